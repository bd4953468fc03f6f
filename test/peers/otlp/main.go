// Random requests of OTLP metrics, in both encodings, and the samples that Prometheus makes of them: the lines of
// test/data/formats/otlp.jsonl.gz. Cumulative metrics without exponential histograms, for which Prometheus has native ones.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/storage/remote/otlptranslator/prometheusremotewrite"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

var (
	parts = []string{"a", "B", "1", "09", ".", "_", "__", "-", "/", ":", "é", "total", "seconds", "ratio", "bytes", " ", "%", "http"}
	units = []string{"", "1", "s", "ms", "By", "By/s", "{req}", "{req}/s", "%", "KiBy/m", "m/s", "foo", "foo bar", "/s", "s/",
		"1/h", " s ", "a%", "a%/b", "s/%", "Cel", "total", "é/d", "total/w", "_x_", "{a}b/{c}", "By/{page}", "V/A/W", "\u00a0Hz"}
	keys = []string{"service.name", "service.namespace", "service.instance.id", "job", "instance", "le", "quantile", "__name__",
		"_x", "__x", "1a", "a.b", "a_b", "a-b", "host.name", "é", "..", "k8s.pod/name"}
	texts   = []string{"", "x", "shop", "ünï", "a;b", "\"\\\n", "<&>", "\u2028", "1"}
	numbers = []float64{0, 1, -1, 0.5, 1e21, 1e-7, 123456.789, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, 1e100}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.Intn(len(from))] }

func name(r *rand.Rand) string {
	var out strings.Builder
	for n := r.Intn(7); n >= 0; n-- {
		out.WriteString(pick(r, parts))
	}
	return out.String()
}

func value(r *rand.Rand, depth int, v pcommon.Value) {
	kinds := 9
	if depth > 2 {
		kinds = 7
	}
	switch r.Intn(kinds) {
	case 0:
		v.SetBool(r.Intn(2) == 0)
	case 1:
		v.SetInt(r.Int63n(1<<50) - 1<<49)
	case 2:
		number := pick(r, numbers)
		if depth > 0 && (math.IsNaN(number) || math.IsInf(number, 0)) {
			number = 2.5
		}
		v.SetDouble(number)
	case 3:
		v.SetEmptyBytes().FromRaw([]byte(pick(r, texts) + "\xff\x00"))
	case 7:
		list := v.SetEmptySlice()
		for n := r.Intn(3); n > 0; n-- {
			value(r, depth+1, list.AppendEmpty())
		}
	case 8:
		fields := v.SetEmptyMap()
		for n := r.Intn(3); n > 0; n-- {
			value(r, depth+1, fields.PutEmpty(name(r)))
		}
	default:
		v.SetStr(pick(r, texts))
	}
}

func attributes(r *rand.Rand, into pcommon.Map) {
	for n := r.Intn(5); n > 0; n-- {
		key := pick(r, keys)
		if r.Intn(3) == 0 {
			key = name(r)
		}
		value(r, 0, into.PutEmpty(key))
	}
}

func stamp(r *rand.Rand) pcommon.Timestamp {
	return pcommon.Timestamp(1_700_000_000_000_000_000 + r.Int63n(400_000_000_000))
}

func flags(r *rand.Rand) pmetric.DataPointFlags {
	return pmetric.DefaultDataPointFlags.WithNoRecordedValue(r.Intn(8) == 0)
}

func number(r *rand.Rand, point pmetric.NumberDataPoint) {
	attributes(r, point.Attributes())
	point.SetTimestamp(stamp(r))
	point.SetFlags(flags(r))
	if r.Intn(2) == 0 {
		point.SetIntValue(r.Int63() - r.Int63())
	} else {
		point.SetDoubleValue(pick(r, numbers))
	}
}

func classic(r *rand.Rand, point pmetric.HistogramDataPoint) {
	attributes(r, point.Attributes())
	point.SetTimestamp(stamp(r))
	point.SetFlags(flags(r))
	point.SetCount(uint64(r.Intn(1000)))
	if r.Intn(3) > 0 {
		point.SetSum(pick(r, numbers))
	}
	bound := pick(r, []float64{-2.5, 0, 1, 1e-9, 1e21})
	for n := r.Intn(5); n > 0; n-- {
		point.ExplicitBounds().Append(bound)
		bound = math.Abs(bound)*1.5 + 0.1
	}
	for n := point.ExplicitBounds().Len() + r.Intn(2); n > 0; n-- {
		point.BucketCounts().Append(uint64(r.Intn(100)))
	}
}

func summary(r *rand.Rand, point pmetric.SummaryDataPoint) {
	attributes(r, point.Attributes())
	point.SetTimestamp(stamp(r))
	point.SetFlags(flags(r))
	point.SetCount(uint64(r.Intn(1000)))
	point.SetSum(pick(r, numbers))
	for n := r.Intn(3); n > 0; n-- {
		quantile := point.QuantileValues().AppendEmpty()
		quantile.SetQuantile(pick(r, []float64{0, 0.5, 0.99, 1e-7, 1}))
		quantile.SetValue(pick(r, numbers))
	}
}

func metric(r *rand.Rand, m pmetric.Metric) {
	m.SetName(name(r))
	m.SetUnit(pick(r, units))
	if r.Intn(6) == 0 {
		m.SetUnit(name(r))
	}
	switch r.Intn(4) {
	case 0:
		number(r, m.SetEmptyGauge().DataPoints().AppendEmpty())
	case 1:
		sum := m.SetEmptySum()
		sum.SetIsMonotonic(r.Intn(2) == 0)
		sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		number(r, sum.DataPoints().AppendEmpty())
	case 2:
		histogram := m.SetEmptyHistogram()
		histogram.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		classic(r, histogram.DataPoints().AppendEmpty())
	default:
		summary(r, m.SetEmptySummary().DataPoints().AppendEmpty())
	}
}

// appender keeps what it is given.
type appender struct {
	storage.AppenderTransaction
	samples [][]any
}

func (a *appender) Append(_ storage.SeriesRef, series labels.Labels, _, t int64, v float64, _ *histogram.Histogram,
	_ *histogram.FloatHistogram, _ storage.AppendV2Options) (storage.SeriesRef, error) {
	sample := []any{t, fmt.Sprintf("%016x", math.Float64bits(v))}
	series.Range(func(l labels.Label) { sample = append(sample, l.Name, l.Value) })
	a.samples = append(a.samples, sample)
	return 1, nil
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	r := rand.New(rand.NewSource(1))
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for ; count > 0; count-- {
		metrics := pmetric.NewMetrics()
		resource := metrics.ResourceMetrics().AppendEmpty()
		attributes(r, resource.Resource().Attributes())
		scope := resource.ScopeMetrics().AppendEmpty()
		for n := r.Intn(3); n >= 0; n-- {
			metric(r, scope.Metrics().AppendEmpty())
		}
		protobuf, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(metrics)
		if err != nil {
			panic(err)
		}
		text, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(metrics)
		if err != nil {
			panic(err)
		}
		kept := &appender{samples: [][]any{}}
		_, errs := prometheusremotewrite.NewPrometheusConverter(kept).FromMetrics(context.Background(), metrics,
			prometheusremotewrite.Settings{AddMetricSuffixes: true, LabelNameUnderscoreSanitization: true,
				LabelNamePreserveMultipleUnderscores: true})
		out.Encode(map[string]any{"protobuf": protobuf, "json": string(text), "refused": errs != nil, "samples": kept.samples})
	}
}
