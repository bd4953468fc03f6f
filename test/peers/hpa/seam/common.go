// What the oracle adds to the controller's package: a clock that a scenario sets, its memory, and what it proposes.
package podautoscaler

import (
	"context"
	"sort"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	corelisters "k8s.io/client-go/listers/core/v1"
	scaleclient "k8s.io/client-go/scale"
	"k8s.io/client-go/tools/record"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/monitor"
	"k8s.io/kubernetes/pkg/controller/util/selectors"
)

var OracleNow = time.Now

func oracleNow() time.Time       { return OracleNow() }
func oracleFirstNow() time.Time  { return OracleNow().Add(-time.Microsecond) }
func oracleMetaNow() metav1.Time { return metav1.NewTime(OracleNow()) }

type OracleProposal = map[string]any

type Oracle struct {
	c     *HorizontalController
	props []OracleProposal
}

var oracleCurrent *Oracle

type oracleMonitor struct {
	reconciled func(action, err string)
	computed   func(action, err, typ string)
}

func (m oracleMonitor) ObserveReconciliationResult(action monitor.ActionLabel, err monitor.ErrorLabel, _ time.Duration) {
	m.reconciled(string(action), string(err))
}
func (m oracleMonitor) ObserveMetricComputationResult(action monitor.ActionLabel, err monitor.ErrorLabel, _ time.Duration, t autoscalingv2.MetricSourceType) {
	m.computed(string(action), string(err), string(t))
}

// What some versions also count, and no scenario asks.
func (oracleMonitor) ObserveHPAAddition()                           {}
func (oracleMonitor) ObserveHPADeletion()                           {}
func (oracleMonitor) ObserveDesiredReplicas(string, string, int32)  {}
func (oracleMonitor) ObserveHPARequeueSkips(group, resource string) {}

func NewOracle(s scaleclient.ScalesGetter, h autoscalingclient.HorizontalPodAutoscalersGetter, m apimeta.RESTMapper, mc metricsclient.MetricsClient,
	pods corelisters.PodLister, rec record.EventRecorder, tolerance float64, down, cpuInit, delay time.Duration,
	reconciled func(action, err string), computed func(action, err, typ string)) *Oracle {
	c := &HorizontalController{scaleNamespacer: s, hpaNamespacer: h, mapper: m, tolerance: tolerance, eventRecorder: rec,
		downscaleStabilisationWindow: down, monitor: oracleMonitor{reconciled, computed}, podLister: pods,
		recommendations: map[string][]timestampedRecommendation{}, scaleUpEvents: map[string][]timestampedScaleEvent{},
		scaleDownEvents: map[string][]timestampedScaleEvent{}}
	c.rememberSelectors()
	c.replicaCalc = NewReplicaCalculator(mc, pods, cpuInit, delay)
	return &Oracle{c: c}
}

func (o *Oracle) AddRecommendation(key string, r int32, t time.Time) {
	o.c.recommendations[key] = append(o.c.recommendations[key], timestampedRecommendation{r, t})
}
func (o *Oracle) AddEvent(up bool, key string, change int32, t time.Time, outdated bool) {
	m := o.c.scaleUpEvents
	if !up {
		m = o.c.scaleDownEvents
	}
	m[key] = append(m[key], timestampedScaleEvent{change, t, outdated})
}
func (o *Oracle) Reconcile(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, key string) ([]OracleProposal, error) {
	o.props = nil
	oracleCurrent = o
	err := o.c.reconcileAutoscaler(ctx, hpa, key)
	return o.props, err
}
func (o *Oracle) State(key string) map[string]any {
	recs, ups, downs := []any{}, []any{}, []any{}
	ts := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	for _, r := range o.c.recommendations[key] {
		recs = append(recs, map[string]any{"replicas": r.recommendation, "time": ts(r.timestamp)})
	}
	ev := func(list []timestampedScaleEvent) []any {
		out := []any{}
		for _, e := range list {
			x := map[string]any{"change": e.replicaChange, "time": ts(e.timestamp)}
			if e.outdated {
				x["outdated"] = true
			}
			out = append(out, x)
		}
		return out
	}
	ups, downs = ev(o.c.scaleUpEvents[key]), ev(o.c.scaleDownEvents[key])
	return map[string]any{"recommendations": recs, "scaleUpEvents": ups, "scaleDownEvents": downs}
}
func oracleNote(p int32, name string, t time.Time, err error) {
	if err != nil {
		oracleCurrent.props = append(oracleCurrent.props, OracleProposal{"error": err.Error()})
		return
	}
	x := OracleProposal{"replicas": p, "name": name}
	if !t.IsZero() {
		x["timestamp"] = t.UTC().Format(time.RFC3339Nano)
	}
	oracleCurrent.props = append(oracleCurrent.props, x)
}
func oracleSorted(in []selectors.Key) []selectors.Key {
	sort.Slice(in, func(i, j int) bool { return in[i].Namespace+"/"+in[i].Name < in[j].Namespace+"/"+in[j].Name })
	return in
}

// computeReplicasForMetric is the controller's own; the build gives that the other name.
func (a *HorizontalController) computeReplicasForMetric(ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, spec autoscalingv2.MetricSpec,
	specReplicas, statusReplicas int32, selector labels.Selector, status *autoscalingv2.MetricStatus) (int32, string, time.Time, autoscalingv2.HorizontalPodAutoscalerCondition, error) {
	p, n, t, c, err := a.computeReplicasForMetricInner(ctx, hpa, spec, specReplicas, statusReplicas, selector, status)
	oracleNote(p, n, t, err)
	return p, n, t, c, err
}
