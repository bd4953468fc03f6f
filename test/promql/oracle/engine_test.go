package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

const (
	benchSeries  = 10000
	benchSamples = 300
	benchNow     = 1700000299000
	benchQuery   = "sum by (pod) (rate(x[1m]))"
)

// The series of test/bench/promql_bench.cc, as plain samples: the engine alone, without a store.
func benchSet() []storage.Series {
	var all []storage.Series
	for i := 0; i < benchSeries; i++ {
		l := labels.FromStrings("__name__", "x", "container", fmt.Sprintf("c%d", i%10), "instance",
			fmt.Sprintf("10.0.0.%d:9100", i%250), "job", "kubernetes-pods", "namespace", fmt.Sprintf("namespace-%d", i/10%20),
			"pod", fmt.Sprintf("web-7f9c6d5b8-%d", i/10))
		var s []chunks.Sample
		for at := int64(0); at < benchSamples; at++ {
			s = append(s, sample{benchNow - (benchSamples-1-at)*1000, float64(at * int64(i%7+1))})
		}
		all = append(all, storage.NewListSeries(l, s))
	}
	return all
}

func run(b *testing.B, ask func(*promql.Engine, storage.Queryable) (promql.Query, error)) {
	all := benchSet()
	engine := newEngine()
	queryable := &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
		SelectMockFunction: func(bool, *storage.SelectHints, ...*labels.Matcher) storage.SeriesSet {
			return &set{s: all, i: -1}
		}}}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		query, err := ask(engine, queryable)
		if err != nil {
			b.Fatal(err)
		}
		if result := query.Exec(context.Background()); result.Err != nil {
			b.Fatal(result.Err)
		}
		query.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchSeries, "ns/series")
}

func BenchmarkInstant(b *testing.B) {
	run(b, func(e *promql.Engine, q storage.Queryable) (promql.Query, error) {
		return e.NewInstantQuery(context.Background(), q, nil, benchQuery, time.UnixMilli(benchNow))
	})
}
