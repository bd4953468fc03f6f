// The engine of Prometheus 3 over the samples of one OpenMetrics file: a query a line on standard
// input as JSON, an answer a line on standard output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

type sample struct {
	t int64
	f float64
}

func (s sample) T() int64                      { return s.t }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.f }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

type series struct {
	l labels.Labels
	s []chunks.Sample
}

func load(file string) []series {
	b, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	p := textparse.NewOpenMetricsParser(b, labels.NewSymbolTable())
	idx := map[string]int{}
	var out []series
	for {
		e, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			panic(err)
		}
		if e != textparse.EntrySeries {
			continue
		}
		_, ts, v := p.Series()
		var l labels.Labels
		p.Labels(&l)
		l = l.WithoutEmpty() // as a store takes them
		k := l.String()
		i, ok := idx[k]
		if !ok {
			i = len(out)
			idx[k] = i
			out = append(out, series{l: l})
		}
		out[i].s = append(out[i].s, sample{*ts, v})
	}
	sort.Slice(out, func(i, j int) bool { return labels.Compare(out[i].l, out[j].l) < 0 })
	return out
}

type querier struct {
	storage.LabelQuerier
	all []series
}

func (x querier) Close() error { return nil }
func (x querier) LabelValues(ctx context.Context, name string, h *storage.LabelHints, m ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}
func (x querier) LabelNames(ctx context.Context, h *storage.LabelHints, m ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}
func (x querier) Select(ctx context.Context, s bool, h *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	var sel []storage.Series
	for _, s := range x.all {
		ok := true
		for _, m := range ms {
			if !m.Matches(s.l.Get(m.Name)) {
				ok = false
				break
			}
		}
		if ok {
			sel = append(sel, storage.NewListSeries(s.l, between(s.s, h)))
		}
	}
	return &set{s: sel, i: -1}
}

// What a store would give: the samples of the time that is asked for.
func between(all []chunks.Sample, h *storage.SelectHints) []chunks.Sample {
	if h == nil {
		return all
	}
	from := sort.Search(len(all), func(i int) bool { return all[i].T() >= h.Start })
	to := sort.Search(len(all), func(i int) bool { return all[i].T() > h.End })
	return all[from:max(from, to)]
}

type set struct {
	s []storage.Series
	i int
}

func (x *set) Next() bool                        { x.i++; return x.i < len(x.s) }
func (x *set) At() storage.Series                { return x.s[x.i] }
func (x *set) Err() error                        { return nil }
func (x *set) Warnings() annotations.Annotations { return nil }

func formatValue(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
func labelMap(l labels.Labels) map[string]string { return l.Map() }

type job struct {
	Query                  string
	Time, Start, End, Step *float64
}

func timeOf(f float64) time.Time { return time.UnixMilli(int64(math.Round(f * 1000))).UTC() }

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{MaxSamples: 50000000, Timeout: 2 * time.Minute, LookbackDelta: 5 * time.Minute,
		EnableAtModifier: true, EnableNegativeOffset: true, NoStepSubqueryIntervalFn: func(int64) int64 { return 60000 },
		Parser: parser.NewParser(parser.Options{EnableExperimentalFunctions: true, ExperimentalDurationExpr: true})})
}

func main() {
	all := load(os.Args[1])
	eng := newEngine()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	for in.Scan() {
		var j job
		if err := json.Unmarshal(in.Bytes(), &j); err != nil {
			panic(err)
		}
		qb := &storage.MockQueryable{}
		qb.MockQuerier = querier{all: all}
		ctx := context.Background()
		var qr promql.Query
		var err error
		if j.Start != nil {
			qr, err = eng.NewRangeQuery(ctx, qb, nil, j.Query, timeOf(*j.Start), timeOf(*j.End), time.Duration(*j.Step*1000)*time.Millisecond)
		} else {
			qr, err = eng.NewInstantQuery(ctx, qb, nil, j.Query, timeOf(*j.Time))
		}
		out := map[string]any{}
		if err != nil {
			out["error"] = err.Error()
			out["errorType"] = "bad_data"
		} else {
			r := qr.Exec(ctx)
			if r.Err != nil {
				out["error"] = r.Err.Error()
				out["errorType"] = "execution"
			} else {
				var res []any = []any{}
				switch v := r.Value.(type) {
				case promql.Vector:
					for _, s := range v {
						res = append(res, map[string]any{"metric": labelMap(s.Metric), "value": []any{float64(s.T) / 1000, formatValue(s.F)}})
					}
					out["resultType"] = "vector"
				case promql.Matrix:
					for _, s := range v {
						vals := []any{}
						for _, p := range s.Floats {
							vals = append(vals, []any{float64(p.T) / 1000, formatValue(p.F)})
						}
						res = append(res, map[string]any{"metric": labelMap(s.Metric), "values": vals})
					}
					out["resultType"] = "matrix"
				case promql.Scalar:
					res = []any{float64(v.T) / 1000, formatValue(v.V)}
					out["resultType"] = "scalar"
				case promql.String:
					res = []any{float64(v.T) / 1000, v.V}
					out["resultType"] = "string"
				}
				out["result"] = res
			}
		}
		b, e2 := json.Marshal(out)
		if e2 != nil {
			panic(e2)
		}
		fmt.Println(string(b))
	}
}
