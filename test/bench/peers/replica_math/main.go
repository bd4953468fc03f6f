// The replica math of Kubernetes v1.34.4 itself, measured on the inputs of test/bench/scaler_bench.cc.
//
// Two things are run: the calculator alone (what turns one metric into a count), and the controller's whole
// reconcile with everything outside it in memory: no API server, no network, no JSON. Prints one JSON object a line.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	scaleclient "k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

const (
	namespace    = "prod"
	name         = "web"
	initPeriod   = 5 * time.Minute
	initialDelay = 30 * time.Second
	sampleWindow = 30 * time.Second
	podsSelector = "app=web"
	tolerance    = 0.1
)

//go:linkname reconcile k8s.io/kubernetes/pkg/controller/podautoscaler.(*HorizontalController).reconcileAutoscaler
func reconcile(c *podautoscaler.HorizontalController, ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, key string) error

// ---- what is outside the controller ------------------------------------------------------------------------------

// Answers from memory. The calculator changes the map that it is given, so each call gets a copy of its own, as the
// real client makes one from each answer.
type metrics struct {
	samples  metricsclient.PodMetricsInfo
	external []int64
	object   int64
	at       time.Time
}

func (m *metrics) copy() metricsclient.PodMetricsInfo {
	out := make(metricsclient.PodMetricsInfo, len(m.samples))
	for pod, sample := range m.samples {
		out[pod] = sample
	}
	return out
}
func (m *metrics) GetResourceMetric(context.Context, corev1.ResourceName, string, labels.Selector, string) (metricsclient.PodMetricsInfo, time.Time, error) {
	return m.copy(), m.at, nil
}
func (m *metrics) GetRawMetric(string, string, labels.Selector, labels.Selector) (metricsclient.PodMetricsInfo, time.Time, error) {
	return m.copy(), m.at, nil
}
func (m *metrics) GetObjectMetric(string, string, *autoscalingv2.CrossVersionObjectReference, labels.Selector) (int64, time.Time, error) {
	return m.object, m.at, nil
}
func (m *metrics) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	return m.external, m.at, nil
}

type scales struct {
	scaleclient.ScaleInterface
	scale *autoscalingv1.Scale
}

func (s *scales) Scales(string) scaleclient.ScaleInterface { return s }
func (s *scales) Get(context.Context, schema.GroupResource, string, metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return s.scale.DeepCopy(), nil
}
func (s *scales) Update(_ context.Context, _ schema.GroupResource, scale *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	return scale, nil
}

// Keeps the status that was written last, for the next reconcile to find.
type autoscalers struct {
	autoscalingclient.HorizontalPodAutoscalerInterface
	stored *autoscalingv2.HorizontalPodAutoscaler
}

func (a *autoscalers) HorizontalPodAutoscalers(string) autoscalingclient.HorizontalPodAutoscalerInterface {
	return a
}
func (a *autoscalers) UpdateStatus(_ context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, _ metav1.UpdateOptions) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	a.stored = hpa
	return hpa, nil
}

type events struct{ coreclient.EventInterface }

func (e *events) Events(string) coreclient.EventInterface { return e }
func (e *events) CreateWithEventNamespaceWithContext(_ context.Context, event *corev1.Event) (*corev1.Event, error) {
	return event, nil
}
func (e *events) PatchWithEventNamespaceWithContext(_ context.Context, event *corev1.Event, _ []byte) (*corev1.Event, error) {
	return event, nil
}

// ---- inputs: as in scaler_bench.cc ---------------------------------------------------------------------------------

func makePods(count int) []*corev1.Pod {
	start := metav1.NewTime(time.Now().Add(-time.Hour))
	var pods []*corev1.Pod
	for i := 0; i < count; i++ {
		pods = append(pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: podName(i), Namespace: namespace, Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "app",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("100Mi")}},
			}}},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, StartTime: &start,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: start}},
			},
		})
	}
	return pods
}

func podName(i int) string { return fmt.Sprintf("web-%05d", i) }

// 70% of a core each, give or take: 500m … 899m.
func makeSamples(count int, at time.Time) metricsclient.PodMetricsInfo {
	samples := metricsclient.PodMetricsInfo{}
	for i := 0; i < count; i++ {
		samples[podName(i)] = metricsclient.PodMetric{Timestamp: at, Window: sampleWindow, Value: 500 + int64(i*37%400)}
	}
	return samples
}

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

func resourceUtilization(name corev1.ResourceName, percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name: name, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}}}
}

func external(metric, average string) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: metric},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: quantity(average)}}}
}

func podsMetric(metric, average string) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: metric},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: quantity(average)}}}
}

func object(metric, value string) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{
		DescribedObject: autoscalingv2.CrossVersionObjectReference{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Name: "main"},
		Metric:          autoscalingv2.MetricIdentifier{Name: metric},
		Target:          autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: quantity(value)}}}
}

// Both directions with windows of zero: the controller's own clock runs in nanoseconds here, so any longer window would
// hold every decision of the run.
func behavior() *autoscalingv2.HorizontalPodAutoscalerBehavior {
	rules := func() *autoscalingv2.HPAScalingRules {
		zero, most := int32(0), autoscalingv2.MaxChangePolicySelect
		return &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: &zero, SelectPolicy: &most,
			Policies: []autoscalingv2.HPAScalingPolicy{
				{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
				{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15}}}
	}
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: rules(), ScaleDown: rules()}
}

// ---- what is measured ------------------------------------------------------------------------------------------------

type scenario struct {
	name     string
	pods     int
	replicas int32
	metrics  []autoscalingv2.MetricSpec
	behavior *autoscalingv2.HorizontalPodAutoscalerBehavior
}

func scenarios() []scenario {
	five := []autoscalingv2.MetricSpec{
		resourceUtilization(corev1.ResourceCPU, 70), resourceUtilization(corev1.ResourceMemory, 70),
		podsMetric("rps", "700"), object("requests", "1k"), external("queue_depth", "10")}
	return []scenario{
		{"external", 0, 4, []autoscalingv2.MetricSpec{external("queue_depth", "10")}, nil},
		{"resource/10", 10, 10, []autoscalingv2.MetricSpec{resourceUtilization(corev1.ResourceCPU, 70)}, nil},
		{"resource/100", 100, 100, []autoscalingv2.MetricSpec{resourceUtilization(corev1.ResourceCPU, 70)}, nil},
		{"resource/1000", 1000, 1000, []autoscalingv2.MetricSpec{resourceUtilization(corev1.ResourceCPU, 70)}, nil},
		{"five_metrics/50", 50, 50, five, behavior()},
	}
}

func answers(s scenario) *metrics {
	at := time.Now().Add(-10 * time.Second)
	return &metrics{samples: makeSamples(s.pods, at), external: []int64{int64(s.replicas) * 10000}, object: 1000000, at: at}
}

// CPU time of this process, all threads: the collector works for the benchmark, too, and a busy machine does not show.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

const cpuMetric = "cpu-ns/op"

func timed(b *testing.B, op func()) {
	b.ReportAllocs()
	start := cpuTime()
	for i := 0; i < b.N; i++ {
		op()
	}
	b.ReportMetric(float64(cpuTime()-start)/float64(b.N), cpuMetric)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func benchmarkCalculator(s scenario) func(*testing.B) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, pod := range makePods(s.pods) {
		must(indexer.Add(pod))
	}
	calculator := podautoscaler.NewReplicaCalculator(answers(s), corelisters.NewPodLister(indexer), initPeriod, initialDelay)
	selector, err := labels.Parse(podsSelector)
	must(err)
	tolerances := podautoscaler.Tolerances{}
	*(*[2]float64)(unsafe.Pointer(&tolerances)) = [2]float64{tolerance, tolerance} // its fields have no names outside
	ctx := context.Background()
	return func(b *testing.B) {
		timed(b, func() {
			for _, m := range s.metrics {
				var err error
				switch m.Type {
				case autoscalingv2.ResourceMetricSourceType:
					_, _, _, _, err = calculator.GetResourceReplicas(ctx, s.replicas, *m.Resource.Target.AverageUtilization, m.Resource.Name, tolerances, namespace, selector, "")
				case autoscalingv2.PodsMetricSourceType:
					_, _, _, err = calculator.GetMetricReplicas(s.replicas, m.Pods.Target.AverageValue.MilliValue(), m.Pods.Metric.Name, tolerances, namespace, selector, labels.Everything())
				case autoscalingv2.ObjectMetricSourceType:
					_, _, _, err = calculator.GetObjectMetricReplicas(s.replicas, m.Object.Target.Value.MilliValue(), m.Object.Metric.Name, tolerances, namespace, &m.Object.DescribedObject, selector, labels.Everything())
				case autoscalingv2.ExternalMetricSourceType:
					_, _, _, err = calculator.GetExternalPerPodMetricReplicas(s.replicas, m.External.Target.AverageValue.MilliValue(), m.External.Metric.Name, tolerances, namespace, m.External.Metric.Selector)
				}
				must(err)
			}
		})
	}
}

func benchmarkReconcile(s scenario) func(*testing.B) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	podInformer := factory.Core().V1().Pods()
	for _, pod := range makePods(s.pods) {
		must(podInformer.Informer().GetIndexer().Add(pod))
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: "apps", Version: "v1"}})
	mapper.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, meta.RESTScopeNamespace)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("1")}}
	scale.Spec.Replicas, scale.Status.Replicas, scale.Status.Selector = s.replicas, s.replicas, podsSelector
	one := int32(1)
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
			MinReplicas:    &one, MaxReplicas: 100000, Metrics: s.metrics, Behavior: s.behavior}}
	ctx := context.Background()
	hpas := factory.Autoscaling().V2().HorizontalPodAutoscalers()
	must(hpas.Informer().GetIndexer().Add(hpa))
	store := &autoscalers{stored: hpa}
	controller := podautoscaler.NewHorizontalController(ctx, &events{}, &scales{scale: scale}, store, mapper, answers(s),
		hpas, podInformer, 15*time.Second, 0, tolerance, initPeriod, initialDelay)
	return func(b *testing.B) {
		timed(b, func() { must(reconcile(controller, ctx, store.stored, namespace+"/"+name)) })
	}
}

// What the stubs themselves cost: the copies of the samples, one for each metric that has them.
func benchmarkCopies(s scenario) func(*testing.B) {
	source, copies := answers(s), 0
	for _, m := range s.metrics {
		if m.Type == autoscalingv2.ResourceMetricSourceType || m.Type == autoscalingv2.PodsMetricSourceType {
			copies++
		}
	}
	return func(b *testing.B) {
		timed(b, func() {
			for k := 0; k < copies; k++ {
				if len(source.copy()) != s.pods {
					panic("lost a sample")
				}
			}
		})
	}
}

type line struct {
	Scenario string  `json:"scenario"`
	What     string  `json:"what"`
	Pods     int     `json:"pods"`
	WallNs   float64 `json:"wall_ns_per_op"`
	CPUNs    float64 `json:"cpu_ns_per_op"`
	Allocs   int64   `json:"allocs_per_op"`
	Bytes    int64   `json:"bytes_per_op"`
}

func main() {
	testing.Init()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	out := json.NewEncoder(os.Stdout)
	for _, s := range scenarios() {
		for _, what := range []struct {
			name string
			run  func(*testing.B)
		}{{"calculator", benchmarkCalculator(s)}, {"reconcile", benchmarkReconcile(s)}, {"copies", benchmarkCopies(s)}} {
			r := testing.Benchmark(what.run)
			must(out.Encode(line{s.name, what.name, s.pods, float64(r.T.Nanoseconds()) / float64(r.N), r.Extra[cpuMetric], r.AllocsPerOp(), r.AllocedBytesPerOp()}))
		}
	}
}
