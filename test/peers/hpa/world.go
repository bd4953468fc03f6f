// What the controller meets: an API server and metrics APIs that answer what the tick of a scenario says.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	corelisters "k8s.io/client-go/listers/core/v1"
	scaleclient "k8s.io/client-go/scale"
	cmapi "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	emapi "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsapi "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	customclient "k8s.io/metrics/pkg/client/custom_metrics"
	externalclient "k8s.io/metrics/pkg/client/external_metrics"
)

type World struct {
	now     time.Time
	tick    *Tick
	ns      string
	name    string
	gr      string
	scale   autoscalingv1.Scale
	pods    []*v1.Pod
	stored  *autoscalingv2.HorizontalPodAutoscaler
	written bool
	writes  []Obj
	events  []Obj
	mon     Obj
	metrics []Obj
}

// ---- scale
func faultErr(word string, gr schema.GroupResource, name string) error {
	switch {
	case word == "" || word == "ok":
		return nil
	case word == "conflict":
		return apierrors.NewConflict(gr, name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	case word == "notfound":
		return apierrors.NewNotFound(gr, name)
	}
	return errors.New(strings.TrimPrefix(word, "error:"))
}

type scales struct{ w *World }

func (s scales) Scales(string) scaleclient.ScaleInterface { return s }
func (s scales) Get(_ context.Context, gr schema.GroupResource, name string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	if err := faultErr(s.w.tick.Faults.GetScale, gr, name); err != nil {
		return nil, err
	}
	return s.w.scale.DeepCopy(), nil
}
func (s scales) Update(_ context.Context, gr schema.GroupResource, sc *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	word := "ok"
	if f := s.w.tick.Faults.UpdateScale; len(f) > 0 {
		word = f[0]
		s.w.tick.Faults.UpdateScale = f[1:]
	}
	out := word
	if strings.HasPrefix(word, "error:") {
		out = "error"
	}
	s.w.writes = append(s.w.writes, Obj{"replicas": sc.Spec.Replicas, "outcome": out})
	if err := faultErr(word, gr, sc.Name); err != nil {
		return nil, err
	}
	s.w.scale.Spec.Replicas = sc.Spec.Replicas
	return sc, nil
}
func (s scales) Patch(context.Context, schema.GroupVersionResource, string, types.PatchType, []byte, metav1.PatchOptions) (*autoscalingv1.Scale, error) {
	panic("patch")
}

// ---- hpa
type hpas struct{ w *World }

type hpaIface struct {
	autoscalingclient.HorizontalPodAutoscalerInterface
	w *World
}

func (h hpas) HorizontalPodAutoscalers(string) autoscalingclient.HorizontalPodAutoscalerInterface {
	return hpaIface{w: h.w}
}
func (h hpaIface) UpdateStatus(_ context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, _ metav1.UpdateOptions) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	gr := schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}
	if err := faultErr(h.w.tick.Faults.UpdateStatus, gr, hpa.Name); err != nil {
		return nil, err
	}
	data, err := json.Marshal(hpa.Status)
	if err != nil {
		return nil, err
	}
	st := autoscalingv2.HorizontalPodAutoscalerStatus{}
	if err := json.Unmarshal(data, &st); err != nil {
		return nil, err
	}
	h.w.stored.Status = st
	h.w.written = true
	return hpa, nil
}

// ---- pods
type podLister struct{ w *World }

func (p podLister) List(s labels.Selector) ([]*v1.Pod, error)     { return nil, errors.New("unused") }
func (p podLister) Pods(ns string) corelisters.PodNamespaceLister { return podNs{p.w, ns} }

type podNs struct {
	w  *World
	ns string
}

func (p podNs) Get(string) (*v1.Pod, error) { return nil, errors.New("unused") }
func (p podNs) List(s labels.Selector) ([]*v1.Pod, error) {
	if e := p.w.tick.Faults.ListPods; e != "" {
		return nil, errors.New(e)
	}
	var out []*v1.Pod
	for _, pod := range p.w.pods {
		if pod.Namespace == p.ns && s.Matches(labels.Set(pod.Labels)) {
			out = append(out, pod)
		}
	}
	return out, nil
}

// ---- metrics
type resClient struct {
	resourceclient.PodMetricsInterface
	w *World
}

func (r resClient) PodMetricses(string) resourceclient.PodMetricsInterface { return r }
func (r resClient) List(context.Context, metav1.ListOptions) (*metricsapi.PodMetricsList, error) {
	m := r.w.tick.Metrics.Resource
	if m == nil {
		return nil, errors.New("no resource metrics in scenario")
	}
	if m.Error != nil {
		return nil, errors.New(*m.Error)
	}
	return &metricsapi.PodMetricsList{Items: m.Items}, nil
}

type custClient struct {
	w    *World
	root bool
}

func (c custClient) RootScopedMetrics() customclient.MetricsInterface { return custClient{c.w, true} }
func (c custClient) NamespacedMetrics(string) customclient.MetricsInterface {
	return custClient{c.w, false}
}
func (c custClient) find(kind, object, metric, sel string) ([]cmapi.MetricValue, error) {
	for _, m := range c.w.tick.Metrics.Custom {
		if m.Kind == kind && m.Object == object && m.Metric == metric && m.Selector == sel {
			if m.Error != nil {
				return nil, errors.New(*m.Error)
			}
			return m.Items, nil
		}
	}
	return nil, fmt.Errorf("no custom metric %s in scenario", metric)
}
func (c custClient) GetForObject(gk schema.GroupKind, name, metric string, sel labels.Selector) (*cmapi.MetricValue, error) {
	if !(gk.Kind == "Namespace" && gk.Group == "") {
		if _, err := mapper.RESTMapping(gk); err != nil {
			return nil, fmt.Errorf("unable to map kind %s to resource: %v", gk.String(), err)
		}
	}
	kind := gk.Kind
	if gk.Group != "" {
		kind += "." + gk.Group
	}
	items, err := c.find(kind, name, metric, sel.String())
	if err != nil {
		return nil, err
	}
	if len(items) != 1 {
		return nil, fmt.Errorf("the custom metrics API server returned %v results when we asked for exactly one", len(items))
	}
	return &items[0], nil
}
func (c custClient) GetForObjects(gk schema.GroupKind, _ labels.Selector, metric string, sel labels.Selector) (*cmapi.MetricValueList, error) {
	items, err := c.find("Pod", "*", metric, sel.String())
	if err != nil {
		return nil, err
	}
	return &cmapi.MetricValueList{Items: items}, nil
}

type extClient struct{ w *World }

func (e extClient) NamespacedMetrics(string) externalclient.MetricsInterface { return e }
func (e extClient) List(metric string, sel labels.Selector) (*emapi.ExternalMetricValueList, error) {
	for _, m := range e.w.tick.Metrics.External {
		if m.Metric == metric && m.Selector == sel.String() {
			if m.Error != nil {
				return nil, errors.New(*m.Error)
			}
			return &emapi.ExternalMetricValueList{Items: m.Items}, nil
		}
	}
	return nil, fmt.Errorf("no external metric %s in scenario", metric)
}

// ---- events
type recorder struct{ w *World }

func (r recorder) Event(_ runtime.Object, t, reason, message string) {
	r.w.events = append(r.w.events, Obj{"type": t, "reason": reason, "message": message})
}
func (r recorder) Eventf(o runtime.Object, t, reason, format string, a ...any) {
	r.Event(o, t, reason, fmt.Sprintf(format, a...))
}
func (r recorder) AnnotatedEventf(o runtime.Object, _ map[string]string, t, reason, format string, a ...any) {
	r.Eventf(o, t, reason, format, a...)
}

var mapper meta.RESTMapper

func makeMapper() {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: "apps", Version: "v1"}, {Version: "v1"}, {Group: "networking.k8s.io", Version: "v1"}, {Group: "example.com", Version: "v1"}})
	add := func(g, v, k string, scope meta.RESTScope) {
		m.Add(schema.GroupVersionKind{Group: g, Version: v, Kind: strings.ToLower(k)}, scope) // as restmapper does
		m.Add(schema.GroupVersionKind{Group: g, Version: v, Kind: k}, scope)
	}
	for _, k := range []string{"Deployment", "ReplicaSet", "StatefulSet"} {
		add("apps", "v1", k, meta.RESTScopeNamespace)
	}
	for _, k := range []string{"ReplicationController", "Pod", "Service"} {
		add("", "v1", k, meta.RESTScopeNamespace)
	}
	add("", "v1", "Namespace", meta.RESTScopeRoot)
	add("networking.k8s.io", "v1", "Ingress", meta.RESTScopeNamespace)
	add("example.com", "v1", "Widget", meta.RESTScopeNamespace)
	mapper = multi{m}
}

// As a cluster's: what a group does not have is a kind without a match.
type multi struct{ meta.RESTMapper }

func (m multi) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return meta.MultiRESTMapper{m.RESTMapper}.RESTMappings(gk, versions...)
}
func (m multi) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	all, err := m.RESTMappings(gk, versions...)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}
