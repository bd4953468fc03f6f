// Kinds kpa and loop: the controller of Knative Serving over a model of what stands around it, with and without its decider.
package knative

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"testing/synctest"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	networking "knative.dev/networking/pkg/apis/networking/v1alpha1"
	netfake "knative.dev/networking/pkg/client/clientset/versioned/fake"
	netlisters "knative.dev/networking/pkg/client/listers/networking/v1alpha1"
	netcfg "knative.dev/networking/pkg/config"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/serving/pkg/apis/autoscaling"
	"knative.dev/serving/pkg/apis/autoscaling/v1alpha1"
	"knative.dev/serving/pkg/apis/serving"
	"knative.dev/serving/pkg/autoscaler/metrics"
	"knative.dev/serving/pkg/autoscaler/scaling"
	"knative.dev/serving/pkg/client/clientset/versioned/fake"
	pareconciler "knative.dev/serving/pkg/client/injection/reconciler/autoscaling/v1alpha1/podautoscaler"
	listers "knative.dev/serving/pkg/client/listers/autoscaling/v1alpha1"
	"knative.dev/serving/pkg/deployment"
	areconciler "knative.dev/serving/pkg/reconciler/autoscaling"
	"knative.dev/serving/pkg/reconciler/autoscaling/config"
	"knative.dev/serving/pkg/reconciler/autoscaling/kpa"
	kparesources "knative.dev/serving/pkg/reconciler/autoscaling/kpa/resources"
	podresources "knative.dev/serving/pkg/resources"
)

// assign sets a member that the package keeps for itself; the value may be reflected already.
func assign(owner reflect.Value, name string, value any) {
	field := owner.Elem().FieldByName(name)
	to, already := value.(reflect.Value)
	if !already {
		to = reflect.ValueOf(value)
	}
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(to)
}

// ---- what stands around the controller -----------------------------------------------------------------------------

// podList is the lister of the pods of one revision.
type podList struct{ pods []*corev1.Pod }

func (p *podList) List(labels.Selector) ([]*corev1.Pod, error)  { return p.pods, nil }
func (p *podList) Pods(string) corev1listers.PodNamespaceLister { return p }
func (p *podList) Get(name string) (*corev1.Pod, error)         { return nil, errors.New(name) }

func pod(phase corev1.PodPhase, ready, terminating bool) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Labels: map[string]string{serving.RevisionLabelKey: key.Name}},
		Status:     corev1.PodStatus{Phase: phase},
	}
	if terminating {
		p.DeletionTimestamp = &metav1.Time{}
	}
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	return p
}

var (
	readyPod       = pod(corev1.PodRunning, true, false)
	unreadyPod     = pod(corev1.PodRunning, false, false)
	pendingPod     = pod(corev1.PodPending, false, false)
	terminatingPod = pod(corev1.PodRunning, true, true)
)

// target is the scale subresource of the deployment.
type target struct {
	dynamic.Interface
	dynamic.NamespaceableResourceInterface
	replicas int32
	patched  *int32
}

func (t *target) Resource(schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return t
}
func (t *target) Namespace(string) dynamic.ResourceInterface { return t }
func (t *target) Patch(_ context.Context, _ string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*unstructured.Unstructured, error) {
	var patch []struct{ Value int32 }
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	t.replicas, t.patched = patch[0].Value, &patch[0].Value
	return nil, nil
}

// An API server stores times as whole seconds.
func stored[T any](object *T) *T {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	out := new(T)
	if err := json.Unmarshal(text, out); err != nil {
		panic(err)
	}
	return out
}

// revision is the real reconciler with all that it reads and writes.
type revision struct {
	target
	podList
	ctx        context.Context
	in         scenario
	got        settings
	probe      func() (bool, error)
	requeue    []int64
	probes     int
	async      int
	changed    bool
	err        error
	client     *fake.Clientset
	networking *netfake.Clientset
	pas        cache.Indexer
	skss       cache.Indexer
	metrics    cache.Indexer
	reconciler controller.Reconciler
}

func indexer() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

func (r *revision) ToContext(ctx context.Context) context.Context {
	deadline, err := time.ParseDuration(r.in.ProgressDeadline)
	if err != nil {
		deadline = 600 * time.Second
	}
	return config.ToContext(ctx, &config.Config{
		Autoscaler: r.got.config, Deployment: &deployment.Config{ProgressDeadline: deadline}, Network: &netcfg.Config{},
	})
}

// Offer is the manager of the asynchronous probes; what comes of them is the scenario's.
func (r *revision) Offer(context.Context, string, any, time.Duration, time.Duration, ...any) bool {
	r.async++
	return true
}

func newRevision(s scenario, d kparesources.Deciders) (*revision, error) {
	r := &revision{in: s, client: fake.NewSimpleClientset(), networking: netfake.NewSimpleClientset(),
		pas: indexer(), skss: indexer(), metrics: indexer()}
	r.replicas = s.Replicas
	otel.SetMeterProvider(noop.NewMeterProvider())
	r.ctx = logging.WithLogger(context.Background(), zap.NewNop().Sugar())
	if err := r.settle(); err != nil {
		return nil, err
	}
	if _, err := r.client.AutoscalingV1alpha1().PodAutoscalers(key.Namespace).Create(r.ctx, r.got.pa, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	_ = r.pas.Add(r.got.pa)

	controllerOf := &kpa.Reconciler{Base: &areconciler.Base{
		Client: r.client, NetworkingClient: r.networking,
		SKSLister: netlisters.NewServerlessServiceLister(r.skss), MetricLister: listers.NewMetricLister(r.metrics),
	}}
	fields := reflect.ValueOf(controllerOf)
	assign(fields, "podsLister", &r.podList)
	assign(fields, "deciders", d)
	scaler := reflect.New(fields.Elem().FieldByName("scaler").Type().Elem())
	assign(scaler, "dynamicClient", &r.target)
	assign(scaler, "probeManager", r)
	assign(scaler, "listerFactory", func(gvr schema.GroupVersionResource) (cache.GenericLister, error) {
		scales := indexer()
		err := scales.Add(&v1alpha1.PodScalable{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: r.got.pa.Spec.ScaleTargetRef.Name},
			Spec:       v1alpha1.PodScalableSpec{Replicas: &r.replicas},
		})
		return cache.NewGenericLister(scales, gvr.GroupResource()), err
	})
	assign(scaler, "activatorProbe", func(*v1alpha1.PodAutoscaler, http.RoundTripper) (bool, error) {
		r.probes++
		return r.probe()
	})
	assign(scaler, "enqueueCB", func(_ any, after time.Duration) { r.requeue = append(r.requeue, after.Milliseconds()) })
	assign(fields, "scaler", scaler)

	r.reconciler = pareconciler.NewReconciler(r.ctx, logging.FromContext(r.ctx), r.client, listers.NewPodAutoscalerLister(r.pas),
		&record.FakeRecorder{}, controllerOf, autoscaling.KPA, controller.Options{ConfigStore: r})
	none := func(reconciler.Bucket, types.NamespacedName) {}
	return r, r.reconciler.(reconciler.LeaderAware).Promote(reconciler.UniversalBucket(), none)
}

// settle makes the pod autoscaler what the scenario now says it is; its status stays.
func (r *revision) settle() error {
	var status v1alpha1.PodAutoscalerStatus
	if r.got.pa != nil {
		status = r.stored().Status
	}
	var err error
	if r.got, err = resolve(r.in); err != nil {
		return err
	}
	pa := r.got.pa.DeepCopy()
	pa.Annotations = map[string]string{autoscaling.ClassAnnotationKey: autoscaling.KPA}
	for name, value := range r.in.Annotations {
		pa.Annotations[name] = value
	}
	pa.UID, pa.Generation = "uid", 1
	pa.Labels = map[string]string{serving.RevisionLabelKey: key.Name}
	pa.Spec.ScaleTargetRef = corev1.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "rev-deployment"}
	pa.Status = status
	r.got.pa = pa
	return r.pas.Update(pa)
}

func (r *revision) stored() *v1alpha1.PodAutoscaler {
	object, _, _ := r.pas.GetByKey(key.String())
	return object.(*v1alpha1.PodAutoscaler)
}

func (r *revision) sks() *networking.ServerlessService {
	object, there, _ := r.skss.GetByKey(key.String())
	if !there {
		return nil
	}
	return object.(*networking.ServerlessService)
}

func (r *revision) ready() int {
	n := 0
	for _, each := range r.pods {
		if each == readyPod {
			n++
		}
	}
	return n
}

// sync brings what is listed to what was written, and the status of the serverless service up to date.
func (r *revision) sync() {
	if pa, err := r.client.AutoscalingV1alpha1().PodAutoscalers(key.Namespace).Get(r.ctx, key.Name, metav1.GetOptions{}); err == nil {
		current := stored(r.stored())
		current.Status = stored(pa).Status
		_ = r.pas.Update(current)
	}
	if metric, err := r.client.AutoscalingV1alpha1().Metrics(key.Namespace).Get(r.ctx, key.Name, metav1.GetOptions{}); err == nil {
		_ = r.metrics.Update(stored(metric))
	}
	sks, err := r.networking.NetworkingV1alpha1().ServerlessServices(key.Namespace).Get(r.ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return
	}
	sks.Status.InitializeConditions()
	sks.Status.ServiceName, sks.Status.PrivateServiceName = key.Name, key.Name+"-private"
	if r.ready() > 0 {
		sks.Status.MarkEndpointsReady()
	} else {
		sks.Status.MarkEndpointsNotReady("NoHealthyBackends")
	}
	if r.ready() == 0 || sks.Spec.Mode == networking.SKSOperationModeProxy {
		sks.Status.MarkActivatorEndpointsPopulated()
	} else {
		sks.Status.MarkActivatorEndpointsRemoved()
	}
	sks = stored(sks)
	_ = r.skss.Update(sks)
	_, err = r.networking.NetworkingV1alpha1().ServerlessServices(key.Namespace).Update(r.ctx, sks, metav1.UpdateOptions{})
	if err != nil {
		panic(err)
	}
}

func (r *revision) step(ms int64) object {
	r.requeue, r.probes, r.async, r.patched = nil, 0, 0, nil
	r.sync()
	status, front := r.stored().Status.DeepCopy(), r.sks().DeepCopy()
	err := r.reconciler.Reconcile(r.ctx, key.String())
	r.sync()
	r.changed = r.patched != nil || !equality.Semantic.DeepEqual(*status, r.stored().Status) || !equality.Semantic.DeepEqual(front, r.sks())
	r.client.ClearActions()
	r.networking.ClearActions()
	now := r.stored().Status
	if now.GetCondition(v1alpha1.PodAutoscalerConditionActive) == nil {
		return object{"t": ms, "error": fmt.Sprint(err)}
	}
	out := object{
		"t": ms, "want": now.GetDesiredScale(), "got": now.GetActualScale(), "replicas": r.replicas,
		"active":    string(now.GetCondition(v1alpha1.PodAutoscalerConditionActive).Status),
		"started":   string(now.GetCondition(v1alpha1.PodAutoscalerConditionScaleTargetInitialized).Status),
		"sks_ready": string(now.GetCondition(v1alpha1.PodAutoscalerConditionSKSReady).Status),
		"ready":     string(now.GetCondition(v1alpha1.PodAutoscalerConditionReady).Status),
	}
	if reason := now.GetCondition(v1alpha1.PodAutoscalerConditionActive).Reason; reason != "" {
		out["reason"] = reason
	}
	if sks := r.sks(); sks != nil {
		out["mode"], out["na"] = string(sks.Spec.Mode), sks.Spec.NumActivators
	}
	if err != nil {
		out["error"] = err.Error()
	}
	return out
}

// ---- kpa -----------------------------------------------------------------------------------------------------------

type kpaStep struct {
	T      int64
	D, EBC int32
	Pods   []int
	Probe  string
	Reach  string
}

// scripted is a decider that says what the scenario says.
type scripted struct {
	decider *scaling.Decider
	status  scaling.DeciderStatus
}

func (s *scripted) Get(context.Context, string, string) (*scaling.Decider, error) {
	if s.decider == nil {
		return nil, apierrors.NewNotFound(v1alpha1.Resource("Deciders"), key.String())
	}
	s.decider.Status = s.status
	return s.decider.DeepCopy(), nil
}
func (s *scripted) Create(_ context.Context, d *scaling.Decider) (*scaling.Decider, error) {
	s.decider = d.DeepCopy()
	return s.Get(context.Background(), "", "")
}
func (s *scripted) Update(ctx context.Context, d *scaling.Decider) (*scaling.Decider, error) {
	return s.Create(ctx, d)
}
func (s *scripted) Delete(context.Context, string, string) {}
func (s *scripted) Watch(func(types.NamespacedName))       {}

func kpaKind(s scenario) object {
	start := time.UnixMilli(s.T0)
	time.Sleep(time.Until(start))
	decider := &scripted{}
	r, err := newRevision(s, decider)
	if err != nil {
		return object{"error": err.Error()}
	}
	states := []object{}
	for _, step := range s.Steps {
		time.Sleep(time.Until(start.Add(time.Duration(step.T) * time.Millisecond)))
		if step.Reach != "" {
			r.in.Reach = step.Reach
			if err := r.settle(); err != nil {
				return object{"error": err.Error()}
			}
		}
		decider.status = scaling.DeciderStatus{DesiredScale: step.D, ExcessBurstCapacity: step.EBC}
		r.pods = nil
		for i, each := range []*corev1.Pod{readyPod, unreadyPod, pendingPod, terminatingPod} {
			if i < len(step.Pods) {
				r.pods = append(r.pods, slices.Repeat([]*corev1.Pod{each}, max(step.Pods[i], 0))...)
			}
		}
		r.probe = func() (bool, error) {
			switch step.Probe {
			case "no":
				return false, nil
			case "error":
				return false, errors.New("no answer")
			}
			return true, nil
		}
		out := r.step(step.T)
		if r.patched != nil {
			out["patch"] = *r.patched
		}
		if r.requeue != nil {
			out["requeue"] = r.requeue
		}
		if r.probes > 0 {
			out["probes"] = r.probes
		}
		if r.async > 0 {
			out["async"] = r.async
		}
		states = append(states, out)
	}
	return object{"states": states}
}

// ---- loop ----------------------------------------------------------------------------------------------------------

const never = math.MaxInt64

// watched is the real decision, and what came of it last.
type watched struct {
	scaling.UniScaler
	scaled func(scaling.ScaleResult, bool)
}

func (w *watched) Scale(logger *zap.SugaredLogger, now time.Time) scaling.ScaleResult {
	result := w.UniScaler.Scale(logger, now)
	since := reflect.ValueOf(w.UniScaler).Elem().FieldByName("panicTime")
	w.scaled(result, !(since.Field(0).Uint() == 0 && since.Field(1).Int() == 0))
	return result
}

type loop struct {
	*revision
	start     time.Time
	now       int64
	readyAt   []int64
	proxied   int64 // since when the activators are in the path
	known     bool  // to the activator
	first     bool  // report of the activator
	poked     bool
	collector *metrics.MetricCollector
	scalers   *scaling.MultiScaler
	ticks     chan time.Time
	steps     map[int64]bool
	probeAt   int64
	probeEnds int64
	states    []object
	changes   []object
	state     object
	change    object
	metric    *v1alpha1.Metric
}

func (l *loop) inProxy() bool {
	sks := l.sks()
	return l.ready() == 0 || (sks != nil && sks.Spec.Mode == networking.SKSOperationModeProxy)
}

func (l *loop) answers() bool { return l.proxied != never && l.now-l.proxied >= l.in.RouteMs }

// look brings the pods and the path to what holds now.
func (l *loop) look() {
	l.readyAt = l.readyAt[:min(len(l.readyAt), int(max(l.replicas, 0)))]
	for len(l.readyAt) < int(l.replicas) {
		l.readyAt = append(l.readyAt, l.now+l.in.StartupMs)
	}
	l.pods = l.pods[:0]
	for _, at := range l.readyAt {
		if at <= l.now {
			l.pods = append(l.pods, readyPod)
		} else {
			l.pods = append(l.pods, pendingPod)
		}
	}
	if !l.inProxy() {
		l.proxied = never
	} else if l.proxied == never {
		l.proxied = l.now
	}
}

func (l *loop) reconcile() {
	for range 10 {
		l.look()
		state := l.step(l.now)
		l.look()
		if metric, err := l.client.AutoscalingV1alpha1().Metrics(key.Namespace).Get(l.ctx, key.Name, metav1.GetOptions{}); err == nil &&
			!equality.Semantic.DeepEqual(metric, l.metric) {
			l.metric = metric
			if err := l.collector.CreateOrUpdate(metric); err != nil {
				l.err = err
			}
		}
		for _, after := range l.requeue {
			l.steps[l.now+after] = true
		}
		if l.async > 0 && l.probeAt == never {
			l.probeAt, l.probeEnds = l.now+1000, l.now+45000
		}
		told := object{}
		for name, value := range state {
			if name != "t" {
				told[name] = value
			}
		}
		if !reflect.DeepEqual(told, l.state) {
			l.state = told
			l.states = append(l.states, state)
		}
		if !l.changed {
			break
		}
	}
}

func (l *loop) push(value float64) {
	stat := metrics.Stat{AverageConcurrentRequests: value, RequestCount: value}
	l.collector.Record(key, time.Unix(time.Now().Unix(), 0), stat)
	l.poked = true
	l.scalers.Poke(key, stat)
	synctest.Wait()
	l.poked = false
}

func (l *loop) offered(second int64) float64 {
	if second >= 0 && second < int64(len(l.in.Load)) {
		return l.in.Load[second]
	}
	return 0
}

func (l *loop) endSecond() {
	offered, carried := l.offered(l.now/1000-1), 0.0
	if l.inProxy() {
		carried = offered
	}
	if l.known {
		value := carried
		if l.first {
			value = max(value-1, 0)
		}
		l.first = false
		l.push(value)
		l.known = carried != 0
	}
	if l.ready() > 0 {
		l.collector.Record(key, time.Now(), metrics.Stat{
			PodName: "service-scraper", AverageConcurrentRequests: offered, AverageProxiedConcurrentRequests: carried,
			RequestCount: offered, ProxiedRequestCount: carried,
		})
	}
}

func (l *loop) beginSecond() {
	if !l.known && l.inProxy() && l.offered(l.now/1000) > 0 {
		l.known, l.first = true, true
		l.push(1)
	}
}

func (l *loop) scaled(result scaling.ScaleResult, panics bool) {
	change := object{"ok": result.ScaleValid, "n": result.DesiredPodCount, "panic": panics, "sign": result.ExcessBurstCapacity < 0}
	if reflect.DeepEqual(change, l.change) {
		return
	}
	l.change = change
	l.changes = append(l.changes, object{"t": l.now, "ok": result.ScaleValid, "n": result.DesiredPodCount,
		"ebc": result.ExcessBurstCapacity, "panic": panics, "poke": l.poked})
}

func loopKind(s scenario) object {
	l := &loop{start: time.UnixMilli(s.T0), proxied: never, probeAt: never, steps: map[int64]bool{}, ticks: make(chan time.Time),
		states: []object{}, changes: []object{}}
	time.Sleep(time.Until(l.start))
	none := func(*v1alpha1.Metric, *zap.SugaredLogger) (metrics.StatsScraper, error) { return nil, nil }
	l.collector = metrics.NewMetricCollector(none, zap.NewNop().Sugar())
	defer l.collector.Delete(key.Namespace, key.Name)
	stop := make(chan struct{})
	defer close(stop)
	l.scalers = scaling.NewMultiScaler(stop, func(d *scaling.Decider) (scaling.UniScaler, error) {
		counter := podresources.NewPodAccessor(&l.podList, key.Namespace, key.Name)
		real := scaling.New(attribute.NewSet(), noop.NewMeterProvider(), key.Namespace, key.Name, l.collector, counter, &d.Spec)
		return &watched{real, l.scaled}, nil
	}, zap.NewNop().Sugar())
	assign(reflect.ValueOf(l.scalers), "tickProvider", func(time.Duration) *time.Ticker { return &time.Ticker{C: l.ticks} })
	l.scalers.Watch(func(types.NamespacedName) { l.steps[l.now] = true })
	var err error
	if l.revision, err = newRevision(s, l.scalers); err != nil {
		return object{"error": err.Error()}
	}
	l.probe = func() (bool, error) { return l.answers(), nil }

	l.readyAt = slices.Repeat([]int64{s.StartupMs}, int(s.Replicas))
	l.look()
	l.reconcile()
	end, begin, tick := int64(1000), int64(0), s.PhaseMs
	for {
		pods, step := int64(never), int64(never)
		for _, at := range l.readyAt {
			if at > l.now {
				pods = min(pods, at)
			}
		}
		for at := range l.steps {
			step = min(step, at)
		}
		next := max(min(pods, end, begin, tick, l.probeAt, step), l.now)
		if next > s.UntilMs {
			break
		}
		l.now = next
		time.Sleep(time.Until(l.start.Add(time.Duration(next) * time.Millisecond)))
		synctest.Wait()
		switch {
		case pods <= next:
			l.look()
			l.steps[next] = true
		case end <= next:
			l.endSecond()
			end += 1000
		case begin <= next:
			l.beginSecond()
			begin += 1000
		case tick <= next:
			l.ticks <- time.Now()
			synctest.Wait()
			tick += 2000
		case l.probeAt <= next:
			if l.answers() || next >= l.probeEnds {
				l.probeAt = never
				l.steps[next+1000] = true
			} else {
				l.probeAt += 1000
			}
		default:
			for at := range l.steps {
				if at <= next {
					delete(l.steps, at)
				}
			}
			l.reconcile()
		}
	}
	if l.err != nil {
		return object{"error": fmt.Sprint(l.err)}
	}
	return object{"states": l.states, "changes": l.changes}
}
