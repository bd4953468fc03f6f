// Kinds throttle, reporter and scrape: what the activator does with requests, and how the autoscaler asks pods.
package knative

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/gogo/protobuf/proto"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	netcfg "knative.dev/networking/pkg/config"
	netheader "knative.dev/networking/pkg/http/header"
	"knative.dev/serving/pkg/activator/handler"
	activator "knative.dev/serving/pkg/activator/net"
	"knative.dev/serving/pkg/apis/autoscaling/v1alpha1"
	"knative.dev/serving/pkg/autoscaler/metrics"
	"knative.dev/serving/pkg/queue"
	podresources "knative.dev/serving/pkg/resources"
)

// ---- throttle ------------------------------------------------------------------------------------------------------

// revisionThrottler is another package's: what is known of it here is only where it is.
type revisionThrottler struct{}

type breaker interface{ Capacity() int }

// revisionDestsUpdate has the members of the original.
type revisionDestsUpdate struct {
	Rev           types.NamespacedName
	ClusterIPDest string
	Dests         sets.Set[string]
}

//go:linkname newRevisionThrottler knative.dev/serving/pkg/activator/net.newRevisionThrottler
func newRevisionThrottler(types.NamespacedName, int, string, queue.BreakerParams, *zap.SugaredLogger) *revisionThrottler

//go:linkname handleUpdate knative.dev/serving/pkg/activator/net.(*revisionThrottler).handleUpdate
func handleUpdate(*revisionThrottler, revisionDestsUpdate)

//go:linkname handlePubEpsUpdate knative.dev/serving/pkg/activator/net.(*revisionThrottler).handlePubEpsUpdate
func handlePubEpsUpdate(*revisionThrottler, *corev1.Endpoints, string)

//go:linkname try knative.dev/serving/pkg/activator/net.(*revisionThrottler).try
func try(*revisionThrottler, context.Context, func(string, bool) error) error

// A request that waits, or runs at its destination.
type request struct {
	cancel context.CancelFunc
	dest   string
	finish chan struct{}
}

type throttle struct {
	real                  *revisionThrottler
	cc                    int
	mutex                 sync.Mutex // several requests may go on at once
	waiting, running      []*request
	done, full, abandoned int
}

func (t *throttle) start() {
	ctx, cancel := context.WithCancel(context.Background())
	each := &request{cancel: cancel, finish: make(chan struct{})}
	t.waiting = append(t.waiting, each)
	go func() {
		err := try(t.real, ctx, func(dest string, _ bool) error {
			t.mutex.Lock()
			t.waiting = slices.DeleteFunc(t.waiting, func(r *request) bool { return r == each })
			each.dest = dest
			t.running = append(t.running, each)
			t.mutex.Unlock()
			<-each.finish
			return nil
		})
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.waiting = slices.DeleteFunc(t.waiting, func(r *request) bool { return r == each })
		switch {
		case errors.Is(err, queue.ErrRequestQueueFull):
			t.full++
		case err != nil:
			t.abandoned++
		default:
			t.done++
		}
	}()
}

func (t *throttle) finish(dest string) {
	at := slices.IndexFunc(t.running, func(r *request) bool { return dest == "" || r.dest == dest })
	if at < 0 {
		return
	}
	each := t.running[at]
	t.running = slices.Delete(t.running, at, at+1)
	close(each.finish)
}

func texts(value any) []string {
	list, _ := value.([]any)
	out := []string{}
	for _, each := range list {
		out = append(out, each.(string))
	}
	return out
}

// members of the original throttler, by name.
func throttlerFields(rt *revisionThrottler) reflect.Value {
	field, _ := reflect.TypeFor[activator.Throttler]().FieldByName("revisionThrottlers")
	return reflect.NewAt(field.Type.Elem().Elem(), unsafe.Pointer(rt)).Elem()
}

func (t *throttle) state(ms int64) object {
	fields := throttlerFields(t.real)
	member := func(name string) reflect.Value {
		field := fields.FieldByName(name)
		return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	}
	assigned := []string{}
	for _, each := range member("assignedTrackers").Seq2() {
		assigned = append(assigned, each.Elem().FieldByName("dest").String())
	}
	out := object{"t": ms, "capacity": member("breaker").Interface().(breaker).Capacity(), "assigned": assigned,
		"running": len(t.running), "queued": len(t.waiting), "done": t.done, "full": t.full, "abandoned": t.abandoned}
	if t.cc > 0 {
		per := map[string]int{}
		for _, each := range t.running {
			per[each.dest]++
		}
		out["per_dest"] = per
	}
	return out
}

func throttleKind(s scenario) object {
	params := queue.BreakerParams{QueueDepth: 10000, MaxConcurrency: queue.MaxBreakerCapacity}
	if s.Depth > 0 {
		params.QueueDepth = s.Depth
	}
	if s.Limit > 0 {
		params.MaxConcurrency = s.Limit
	}
	t := &throttle{cc: int(s.CC), real: newRevisionThrottler(key, int(s.CC), "http", params, zap.NewNop().Sugar())}
	states := []object{}
	start := time.Now()
	for _, event := range s.Events {
		ms := int64(event[0].(float64))
		time.Sleep(time.Until(start.Add(time.Duration(ms) * time.Millisecond)))
		switch event[1] {
		case "pods":
			handleUpdate(t.real, revisionDestsUpdate{Rev: key, Dests: sets.New(texts(event[2])...)})
		case "clusterip":
			handleUpdate(t.real, revisionDestsUpdate{Rev: key, ClusterIPDest: event[2].(string), Dests: sets.New(texts(event[3])...)})
		case "activators":
			subset := corev1.EndpointSubset{Ports: []corev1.EndpointPort{{Name: "http", Port: 8012}}}
			for _, each := range texts(event[2]) {
				subset.Addresses = append(subset.Addresses, corev1.EndpointAddress{IP: each})
			}
			handlePubEpsUpdate(t.real, &corev1.Endpoints{Subsets: []corev1.EndpointSubset{subset}}, event[3].(string))
		case "start":
			t.start()
		case "finish":
			t.finish(event[2].(string))
		case "abandon":
			if len(t.waiting) > 0 {
				t.waiting[0].cancel()
			}
		}
		synctest.Wait()
		states = append(states, t.state(ms))
	}
	for len(t.waiting)+len(t.running) > 0 {
		if len(t.waiting) > 0 {
			t.waiting[0].cancel()
		}
		t.finish("")
		synctest.Wait()
	}
	return object{"states": states}
}

// ---- reporter ------------------------------------------------------------------------------------------------------

//go:linkname report knative.dev/serving/pkg/activator/handler.(*ConcurrencyReporter).report
func report(*handler.ConcurrencyReporter, time.Time) []metrics.StatMessage

func sent(ms int64, messages []metrics.StatMessage) object {
	slices.SortFunc(messages, func(a, b metrics.StatMessage) int { return strings.Compare(a.Key.Name, b.Key.Name) })
	stats := []any{}
	for _, each := range messages {
		stats = append(stats, []any{each.Key.Name, each.Stat.AverageConcurrentRequests, each.Stat.RequestCount})
	}
	wire := metrics.ToWireStatMessages(messages)
	text, err := wire.Marshal()
	if err != nil {
		panic(err)
	}
	return object{"t": ms, "stats": stats, "wire": hex.EncodeToString(text)}
}

func reporterKind(s scenario) object {
	start := time.UnixMilli(s.T0)
	time.Sleep(time.Until(start))
	told := make(chan []metrics.StatMessage, 1000)
	reporter := &handler.ConcurrencyReporter{}
	fields := reflect.ValueOf(reporter)
	assign(fields, "logger", zap.NewNop().Sugar())
	assign(fields, "podName", "activator")
	assign(fields, "statCh", told)
	assign(fields, "stats", reflect.MakeMap(fields.Elem().FieldByName("stats").Type()))
	out := []object{}
	open := map[string]chan struct{}{}
	for _, event := range s.Events {
		ms := int64(event[0].(float64))
		time.Sleep(time.Until(start.Add(time.Duration(ms) * time.Millisecond)))
		switch event[1] {
		case "in":
			end := make(chan struct{})
			open[event[2].(string)] = end
			serve := reporter.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
			revision := types.NamespacedName{Namespace: "ns", Name: event[3].(string)}
			in := httptest.NewRequest(http.MethodGet, "/", nil)
			go serve(httptest.NewRecorder(), in.WithContext(handler.WithRevisionAndID(context.Background(), nil, revision)))
		case "out":
			if end := open[event[2].(string)]; end != nil {
				close(end)
				delete(open, event[2].(string))
			}
		case "report":
			if messages := report(reporter, time.Now()); len(messages) > 0 {
				told <- messages
			}
		}
		synctest.Wait()
		for len(told) > 0 {
			out = append(out, sent(ms, <-told))
		}
	}
	for _, end := range open {
		close(end)
	}
	return object{"sent": out}
}

// ---- scrape --------------------------------------------------------------------------------------------------------

//go:linkname populationMeanSampleSize knative.dev/serving/pkg/autoscaler/metrics.populationMeanSampleSize
func populationMeanSampleSize(float64) float64

// asked answers as the pods of a scenario do.
type asked map[string][]any

func (a asked) RoundTrip(in *http.Request) (*http.Response, error) {
	pod := a[in.URL.Hostname()]
	if len(pod) > 5 && pod[5] != "" {
		if pod[5] == "broken" {
			return nil, errors.New("broken")
		}
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Request: in}, nil
	}
	text, err := proto.Marshal(&metrics.Stat{
		PodName: in.URL.Hostname(), AverageConcurrentRequests: number(pod, 1), AverageProxiedConcurrentRequests: number(pod, 2),
		RequestCount: number(pod, 3), ProxiedRequestCount: number(pod, 4),
	})
	header := http.Header{"Content-Type": {netheader.ProtobufMIMEType}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(text)), Request: in}, err
}

func scrapeKind(s scenario) object {
	time.Sleep(time.Until(time.UnixMilli(s.T0)))
	pods, answers := &podList{}, asked{}
	for i, each := range s.Pods {
		one := readyPod.DeepCopy()
		one.Status.PodIP = fmt.Sprintf("10.0.%d.%d", i/250, i%250)
		one.Status.StartTime = &metav1.Time{Time: time.Now().Add(-time.Duration(number(each, 0) * float64(time.Second)))}
		pods.pods = append(pods.pods, one)
		answers[one.Status.PodIP] = each
	}
	target := &v1alpha1.Metric{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	scraper := metrics.NewStatsScraper(target, key.Name, podresources.NewPodAccessor(pods, key.Namespace, key.Name), false,
		netcfg.MeshCompatibilityModeDisabled, zap.NewNop().Sugar(), noop.NewMeterProvider())
	client := reflect.ValueOf(scraper).Elem().FieldByName("directClient").Elem()
	assign(reflect.NewAt(client.Type().Elem(), client.UnsafePointer()), "httpClient", &http.Client{Transport: answers})
	stat, err := scraper.Scrape(time.Duration(s.WindowS) * time.Second)
	out := object{"sample": int(populationMeanSampleSize(float64(len(s.Pods)))), "empty": stat == metrics.Stat{}, "stat": []any{
		stat.AverageConcurrentRequests, stat.AverageProxiedConcurrentRequests, stat.RequestCount, stat.ProxiedRequestCount,
	}}
	if err != nil {
		out["error"] = err.Error()
	}
	return out
}
