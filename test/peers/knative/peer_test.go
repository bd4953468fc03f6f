// The autoscaler of Knative Serving itself, run on scenarios: each line of $SCENARIOS is one, each line of $RESULTS what came of it.
//
// The form is that of test/data/requests. Kinds here: scale, config, reqstats, subset; the others are in the files beside. Time is
// the bubble's of testing/synctest, so that what Knative reads from the clock is the scenario's time.
package knative

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"sort"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/gogo/protobuf/proto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	netstats "knative.dev/networking/pkg/http/stats"
	"knative.dev/pkg/hash"
	"knative.dev/serving/pkg/apis/autoscaling"
	"knative.dev/serving/pkg/apis/autoscaling/v1alpha1"
	"knative.dev/serving/pkg/autoscaler/bucket"
	asconfig "knative.dev/serving/pkg/autoscaler/config"
	"knative.dev/serving/pkg/autoscaler/config/autoscalerconfig"
	"knative.dev/serving/pkg/autoscaler/metrics"
	"knative.dev/serving/pkg/autoscaler/scaling"
	kparesources "knative.dev/serving/pkg/reconciler/autoscaling/kpa/resources"
	"knative.dev/serving/pkg/reconciler/autoscaling/resources"
)

type object = map[string]any

type series struct {
	Op                     string
	From, Step             int64
	Conc, Pconc, Rps, Prps []*float64
}

type scenario struct {
	ID, Kind    string
	T0          int64
	Config      map[string]string
	Annotations map[string]string
	CC          int64
	Reach       string
	Ready       int
	Events      [][]any
	Series      []series
	Ticks       []int64
	From, Keys  []string
	N, Buckets  int
	Target      string

	Replicas         int32
	Steps            []kpaStep
	ProgressDeadline string `json:"progress_deadline"`

	Load      []float64
	StartupMs int64 `json:"startup_ms"`
	RouteMs   int64 `json:"route_ms"`
	PhaseMs   int64 `json:"phase_ms"`
	UntilMs   int64 `json:"until_ms"`

	Depth, Limit int
	WindowS      int64 `json:"window_s"`
	Pods         [][]any
}

var key = types.NamespacedName{Namespace: "ns", Name: "rev"}

// ---- settings ------------------------------------------------------------------------------------------------------

type settings struct {
	config  *autoscalerconfig.Config
	pa      *v1alpha1.PodAutoscaler
	decider *scaling.Decider
	metric  *v1alpha1.Metric
}

func resolve(s scenario) (settings, error) {
	config, err := asconfig.NewConfigFromMap(s.Config)
	if err != nil {
		return settings{}, err
	}
	pa := &v1alpha1.PodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Annotations: s.Annotations},
		Spec:       v1alpha1.PodAutoscalerSpec{ContainerConcurrency: s.CC, Reachability: v1alpha1.ReachabilityType(s.Reach)},
	}
	decider := kparesources.MakeDecider(pa, config)
	service := "private"
	if decider.Spec.TargetBurstCapacity == -1 {
		service = ""
	}
	return settings{config, pa, decider, resources.MakeMetric(pa, service, config)}, nil
}

func (s settings) spec(ms int64) object {
	d, m := s.decider.Spec, s.metric
	least, most := s.pa.ScaleBounds(s.config)
	return object{
		"t": ms, "metric": d.ScalingMetric, "target": d.TargetValue, "total": d.TotalValue, "panic_threshold": d.PanicThreshold,
		"stable_s": m.Spec.StableWindow.Seconds(), "panic_s": m.Spec.PanicWindow.Seconds(), "tbc": d.TargetBurstCapacity,
		"scrape": m.Spec.ScrapeTarget != "", "max_up": d.MaxScaleUpRate, "max_down": d.MaxScaleDownRate,
		"delay_s": d.ScaleDownDelay.Seconds(), "initial": d.InitialScale, "activation": d.ActivationScale, "reachable": d.Reachable,
		"min": least, "max": most, "weighted": m.AggregationAlgorithm() == autoscaling.MetricAggregationAlgorithmWeightedExponential,
	}
}

func configKind(s scenario) object {
	got, err := resolve(s)
	if err != nil {
		return object{"config_ok": false, "annotations_ok": false, "error": err.Error()}
	}
	if err := autoscaling.ValidateAnnotations(context.Background(), got.config, s.Annotations); err != nil {
		return object{"config_ok": true, "annotations_ok": false, "error": err.Error(), "config": parsed(got.config)}
	}
	return object{"config_ok": true, "annotations_ok": true, "spec": got.spec(0), "config": parsed(got.config)}
}

// parsed has durations in seconds, and the percentage as a fraction.
func parsed(c *autoscalerconfig.Config) object {
	return object{
		"activator-capacity": c.ActivatorCapacity, "allow-zero-initial-scale": c.AllowZeroInitialScale,
		"container-concurrency-target-default":    c.ContainerConcurrencyTargetDefault,
		"container-concurrency-target-percentage": c.ContainerConcurrencyTargetFraction,
		"enable-scale-to-zero":                    c.EnableScaleToZero, "initial-scale": c.InitialScale, "max-scale": c.MaxScale,
		"max-scale-down-rate": c.MaxScaleDownRate, "max-scale-limit": c.MaxScaleLimit, "max-scale-up-rate": c.MaxScaleUpRate,
		"min-scale": c.MinScale, "panic-threshold-percentage": c.PanicThresholdPercentage,
		"panic-window-percentage": c.PanicWindowPercentage, "pod-autoscaler-class": c.PodAutoscalerClass,
		"requests-per-second-target-default": c.RPSTargetDefault, "scale-down-delay": c.ScaleDownDelay.Seconds(),
		"scale-to-zero-grace-period":         c.ScaleToZeroGracePeriod.Seconds(),
		"scale-to-zero-pod-retention-period": c.ScaleToZeroPodRetentionPeriod.Seconds(),
		"stable-window":                      c.StableWindow.Seconds(), "target-burst-capacity": c.TargetBurstCapacity,
	}
}

// ---- scale ---------------------------------------------------------------------------------------------------------

type pods struct{ ready int }

func (p *pods) ReadyCount() (int, error) {
	if p.ready < 0 {
		return 0, errors.New("no lister")
	}
	return p.ready, nil
}
func (p *pods) NotReadyCount() (int, error) { return 0, nil }

type step struct {
	ms   int64
	rank int
	run  func()
}

type run struct {
	in        scenario
	got       settings
	pods      pods
	collector *metrics.MetricCollector
	scaler    scaling.UniScaler
	desired   int32
	excess    int32
	specs     []object
	decisions []object
	err       error
}

func number(event []any, at int) float64 {
	if at < len(event) {
		if x, ok := event[at].(float64); ok {
			return x
		}
	}
	return 0
}

func (r *run) create(ms int64) {
	if r.got, r.err = resolve(r.in); r.err != nil {
		return
	}
	if r.collector != nil {
		r.collector.Delete(key.Namespace, key.Name)
	}
	none := func(*v1alpha1.Metric, *zap.SugaredLogger) (metrics.StatsScraper, error) { return nil, nil }
	r.collector = metrics.NewMetricCollector(none, zap.NewNop().Sugar())
	if r.err = r.collector.CreateOrUpdate(r.got.metric); r.err != nil {
		return
	}
	r.scaler = scaling.New(attribute.NewSet(), noop.NewMeterProvider(), key.Namespace, key.Name, r.collector, &r.pods, &r.got.decider.Spec)
	r.desired = -1
	d := r.got.decider.Spec
	if tbc := d.TargetBurstCapacity; tbc == -1 || tbc == 0 {
		r.excess = int32(tbc)
	} else {
		r.excess = int32(float64(d.InitialScale)*d.TotalValue - tbc)
	}
	r.specs = append(r.specs, r.got.spec(ms))
}

func (r *run) update(ms int64, to map[string]any) {
	text, _ := json.Marshal(to)
	if _, there := to["config"]; there {
		r.in.Config = nil
	}
	if _, there := to["annotations"]; there {
		r.in.Annotations = nil
	}
	_ = json.Unmarshal(text, &r.in)
	if r.got, r.err = resolve(r.in); r.err != nil {
		return
	}
	r.scaler.Update(&r.got.decider.Spec)
	r.err = r.collector.CreateOrUpdate(r.got.metric)
	r.specs = append(r.specs, r.got.spec(ms))
}

//go:linkname applyBounds knative.dev/serving/pkg/reconciler/autoscaling/kpa.applyBounds
func applyBounds(least, most, x int32) int32

//go:linkname computeNumActivators knative.dev/serving/pkg/reconciler/autoscaling/kpa.computeNumActivators
func computeNumActivators(int, *scaling.Decider) int32

func (r *run) tick(ms int64, poke bool) {
	d := r.got.decider.Spec
	averages := r.collector.StableAndPanicConcurrency
	if d.ScalingMetric == autoscaling.RPS {
		averages = r.collector.StableAndPanicRPS
	}
	stable, panicking, err := averages(key, time.Now())
	result := r.scaler.Scale(zap.NewNop().Sugar(), time.Now())
	fields := reflect.ValueOf(r.scaler).Elem()
	since := fields.FieldByName("panicTime")
	least, most := r.got.pa.ScaleBounds(r.got.config)
	out := object{
		"b": applyBounds(least, most, result.DesiredPodCount), "na": computeNumActivators(max(r.pods.ready, 0), r.got.decider),
		"t": ms, "ok": result.ScaleValid, "n": result.DesiredPodCount, "ebc": result.ExcessBurstCapacity,
		"panic": !(since.Field(0).Uint() == 0 && since.Field(1).Int() == 0), "mpp": fields.FieldByName("maxPanicPods").Int(),
		"s": stable, "p": panicking, "told": false,
	}
	if poke {
		out["poke"] = true
	}
	if errors.Is(err, metrics.ErrNoData) {
		out["nodata"] = true
	}
	if result.ScaleValid {
		out["told"] = r.desired != result.DesiredPodCount || (r.excess < 0) != (result.ExcessBurstCapacity < 0)
		r.desired, r.excess = result.DesiredPodCount, result.ExcessBurstCapacity
	}
	r.decisions = append(r.decisions, out)
}

func (r *run) push(ms int64, stat metrics.Stat, age float64) {
	r.collector.Record(key, time.Unix(time.Now().Unix()-int64(age), 0), stat)
	if r.desired == 0 && stat.AverageConcurrentRequests != 0 {
		r.tick(ms, true)
	}
}

func (r *run) happen(event []any) {
	ms := int64(number(event, 1))
	stat := metrics.Stat{
		AverageConcurrentRequests: number(event, 2), AverageProxiedConcurrentRequests: number(event, 3),
		RequestCount: number(event, 4), ProxiedRequestCount: number(event, 5),
	}
	switch event[0] {
	case "ready":
		r.pods.ready = int(number(event, 2))
	case "push":
		r.push(ms, stat, number(event, 6))
	case "scrape":
		r.collector.Record(key, time.Now(), stat)
	case "tick":
		r.tick(ms, false)
	case "restart":
		r.create(ms)
	case "update":
		r.update(ms, event[2].(map[string]any))
	}
}

func (r *run) steps() []step {
	var all []step
	for _, event := range r.in.Events {
		all = append(all, step{int64(number(event, 1)), 0, func() { r.happen(event) }})
	}
	at := func(list []*float64, i int) float64 {
		if i < len(list) && list[i] != nil {
			return *list[i]
		}
		return 0
	}
	for _, s := range r.in.Series {
		for i := range max(len(s.Conc), len(s.Pconc), len(s.Rps), len(s.Prps)) {
			if i < len(s.Conc) && s.Conc[i] == nil {
				continue
			}
			ms := s.From + int64(i)*s.Step
			stat := metrics.Stat{
				AverageConcurrentRequests: at(s.Conc, i), AverageProxiedConcurrentRequests: at(s.Pconc, i),
				RequestCount: at(s.Rps, i), ProxiedRequestCount: at(s.Prps, i),
			}
			all = append(all, step{ms, 1, func() {
				if s.Op == "push" {
					r.push(ms, stat, 0)
				} else {
					r.collector.Record(key, time.Now(), stat)
				}
			}})
		}
	}
	if len(r.in.Ticks) == 3 {
		for ms := r.in.Ticks[0]; ms <= r.in.Ticks[1]; ms += r.in.Ticks[2] {
			all = append(all, step{ms, 2, func() { r.tick(ms, false) }})
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		return all[i].ms < all[j].ms || (all[i].ms == all[j].ms && all[i].rank < all[j].rank)
	})
	return all
}

func scaleKind(s scenario) object {
	start := time.UnixMilli(s.T0)
	time.Sleep(time.Until(start))
	r := &run{in: s, pods: pods{s.Ready}}
	r.create(0)
	first := r.excess
	for _, each := range r.steps() {
		time.Sleep(time.Until(start.Add(time.Duration(each.ms) * time.Millisecond)))
		each.run()
		if r.err != nil {
			break
		}
	}
	if r.collector != nil {
		r.collector.Delete(key.Namespace, key.Name)
	}
	if r.err != nil {
		return object{"error": r.err.Error()}
	}
	return object{"ebc0": first, "specs": r.specs, "decisions": r.decisions}
}

// ---- others --------------------------------------------------------------------------------------------------------

func reqstatsKind(s scenario) object {
	start := time.UnixMilli(s.T0)
	stats := netstats.NewRequestStats(start)
	kinds := map[string]netstats.ReqEventType{
		"in": netstats.ReqIn, "out": netstats.ReqOut, "pin": netstats.ProxiedIn, "pout": netstats.ProxiedOut,
	}
	reports := []object{}
	for _, event := range s.Events {
		ms := int64(event[0].(float64))
		now := start.Add(time.Duration(ms) * time.Millisecond)
		if kind, ok := kinds[event[1].(string)]; ok {
			stats.HandleEvent(netstats.ReqEvent{Time: now, Type: kind})
			continue
		}
		report := stats.Report(now)
		wire, _ := proto.Marshal(&metrics.Stat{
			PodName: "pod", ProcessUptime: time.Duration(ms * int64(time.Millisecond)).Seconds(),
			RequestCount: report.RequestCount, ProxiedRequestCount: report.ProxiedRequestCount,
			AverageConcurrentRequests: report.AverageConcurrency, AverageProxiedConcurrentRequests: report.AverageProxiedConcurrency,
		})
		reports = append(reports, object{
			"t": ms, "conc": report.AverageConcurrency, "pconc": report.AverageProxiedConcurrency, "count": report.RequestCount,
			"pcount": report.ProxiedRequestCount, "wire": hex.EncodeToString(wire),
		})
	}
	return object{"reports": reports}
}

func subsetKind(s scenario) object {
	if s.Buckets > 0 {
		set := bucket.AutoscalerBucketSet(uint32(s.Buckets))
		owners := []string{}
		for _, key := range s.Keys {
			owners = append(owners, set.Owner(key))
		}
		return object{"owners": owners}
	}
	return object{"chosen": sets.List(hash.ChooseSubset(sets.New(s.From...), s.N, s.Target))}
}

func answer(t *testing.T, s scenario) object {
	var out object
	switch s.Kind {
	case "scale":
		synctest.Test(t, func(*testing.T) { out = scaleKind(s) })
	case "kpa":
		synctest.Test(t, func(*testing.T) { out = kpaKind(s) })
	case "loop":
		synctest.Test(t, func(*testing.T) { out = loopKind(s) })
	case "throttle":
		synctest.Test(t, func(*testing.T) { out = throttleKind(s) })
	case "reporter":
		synctest.Test(t, func(*testing.T) { out = reporterKind(s) })
	case "scrape":
		synctest.Test(t, func(*testing.T) { out = scrapeKind(s) })
	case "config":
		out = configKind(s)
	case "reqstats":
		out = reqstatsKind(s)
	case "subset":
		out = subsetKind(s)
	default:
		t.Fatalf("%s: kind %q", s.ID, s.Kind)
	}
	out["id"], out["kind"] = s.ID, s.Kind
	return out
}

// JSON has no NaN.
func finite(value any) bool {
	switch v := value.(type) {
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case object:
		for _, each := range v {
			if !finite(each) {
				return false
			}
		}
	case []object:
		for _, each := range v {
			if !finite(each) {
				return false
			}
		}
	}
	return true
}

func TestPeer(t *testing.T) {
	in, err := os.Open(os.Getenv("SCENARIOS"))
	if err != nil {
		t.Skip("SCENARIOS names no file")
	}
	defer in.Close()
	file, err := os.Create(os.Getenv("RESULTS"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	defer out.Flush()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var line struct{ In scenario }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		result := answer(t, line.In)
		if !finite(result) {
			result = object{"id": line.In.ID, "kind": line.In.Kind, "error": "not finite"}
		}
		text, err := json.Marshal(object{"id": line.In.ID, "out": result})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
	}
}
