// One scenario: admitted as an API server does, then reconciled tick by tick.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	pa "hpa/pa"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	metricsclient "k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
)

func codecV2() runtime.Codec {
	return legacyscheme.Codecs.LegacyCodec(autoscalingv2.SchemeGroupVersion)
}

// As stored and read again: internal -> v2 JSON -> v2 with defaults (through internal, as the cache's client gets it).
func asSeen(in *autoscaling.HorizontalPodAutoscaler) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	data, err := runtime.Encode(codecV2(), in)
	if err != nil {
		return nil, err
	}
	obj, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(autoscaling.SchemeGroupVersion), data)
	if err != nil {
		return nil, err
	}
	data, err = runtime.Encode(codecV2(), obj)
	if err != nil {
		return nil, err
	}
	out := &autoscalingv2.HorizontalPodAutoscaler{}
	return out, json.Unmarshal(data, out)
}

func run(line []byte) (out Obj) {
	var id struct{ Scenario struct{ Id string } }
	_ = json.Unmarshal(line, &id)
	defer func() {
		if r := recover(); r != nil {
			out = Obj{"id": id.Scenario.Id, "oracle": fmt.Sprint("panic: ", r)}
		}
	}()
	var s Scenario
	var env struct{ Scenario json.RawMessage }
	if err := json.Unmarshal(line, &env); err == nil && env.Scenario != nil {
		line = env.Scenario
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return Obj{"id": s.Id, "oracle": err.Error()}
	}
	if err := setGates(s.Config.FeatureGates); err != nil {
		return Obj{"id": s.Id, "oracle": err.Error()}
	}
	out = Obj{"id": s.Id}
	w := &World{}
	if len(s.Ticks) > 0 {
		w.now = s.Ticks[0].Now
	}
	pa.OracleNow = func() time.Time { return w.now }
	internal := &autoscaling.HorizontalPodAutoscaler{}
	obj, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(autoscaling.SchemeGroupVersion), s.Autoscaler)
	if err != nil {
		out["admission"] = Obj{"errors": []Obj{{"type": "decode", "field": "", "detail": err.Error()}}}
		return out
	}
	internal = obj.(*autoscaling.HorizontalPodAutoscaler)
	status := internal.Status.DeepCopy()
	ctx := genericapirequest.WithNamespace(context.Background(), internal.Namespace)
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "create", APIGroup: "autoscaling", APIVersion: apiVersion(s.Autoscaler), Resource: "horizontalpodautoscalers", Namespace: internal.Namespace, Path: "/"})
	errs := []Obj{}
	if !s.SkipAdmission {
		if err := beforeCreate(ctx, internal); err != nil {
			for _, c := range err {
				errs = append(errs, c)
			}
		}
	}
	internal.Status = *status
	seen, err := asSeen(internal)
	if err != nil {
		return Obj{"id": s.Id, "oracle": err.Error()}
	}
	adm := Obj{"errors": errs, "spec": seen.Spec}
	out["admission"] = adm
	if len(errs) > 0 {
		return out
	}
	adm["generation"] = seen.Generation
	w.stored = seen
	w.ns, w.name = seen.Namespace, seen.Name
	key := w.ns + "/" + w.name
	mc := metricsclient.NewRESTMetricsClient(resClient{w: w}, custClient{w, false}, extClient{w})
	sec := func(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
	ctl := pa.NewOracle(scales{w}, hpas{w}, mapper, mc, podLister{w}, recorder{w}, s.Config.Tolerance,
		sec(s.Config.DownscaleStabilizationSeconds), sec(s.Config.CpuInitializationPeriodSeconds), sec(s.Config.InitialReadinessDelaySeconds),
		func(action, err string) { w.mon = Obj{"action": action, "error": err} },
		func(action, err, typ string) {
			w.metrics = append(w.metrics, Obj{"type": typ, "action": action, "error": err})
		})
	for _, o := range s.OtherAutoscalers {
		sel, err := labels.Parse(o.Selector)
		if err != nil {
			continue
		}
		ctl.Register(o.Namespace, o.Name, sel)
	}
	ctl.Register(w.ns, w.name, labels.Nothing())
	for _, r := range s.State.Recommendations {
		ctl.AddRecommendation(key, r.Replicas, r.Time)
	}
	for _, e := range s.State.ScaleUpEvents {
		ctl.AddEvent(true, key, e.Change, e.Time, e.Outdated)
	}
	for _, e := range s.State.ScaleDownEvents {
		ctl.AddEvent(false, key, e.Change, e.Time, e.Outdated)
	}
	ticks := []Obj{}
	w.scale.Name, w.scale.Namespace = seen.Spec.ScaleTargetRef.Name, w.ns
	for i := range s.Ticks {
		t := &s.Ticks[i]
		w.tick, w.now = t, t.Now
		w.writes, w.events, w.mon, w.metrics, w.written = []Obj{}, []Obj{}, Obj{}, []Obj{}, false
		if t.Scale != nil {
			if t.Scale.SpecReplicas != nil {
				w.scale.Spec.Replicas = *t.Scale.SpecReplicas
			}
			if t.Scale.StatusReplicas != nil {
				w.scale.Status.Replicas = *t.Scale.StatusReplicas
			}
			if t.Scale.Selector != nil {
				w.scale.Status.Selector = *t.Scale.Selector
			}
		}
		if t.Spec != nil {
			doc := Obj{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": Obj{"name": w.name, "namespace": w.ns}, "spec": t.Spec}
			data, _ := json.Marshal(doc)
			obj, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(autoscaling.SchemeGroupVersion), data)
			if err != nil {
				return Obj{"id": s.Id, "oracle": err.Error()}
			}
			edited, err := asSeen(obj.(*autoscaling.HorizontalPodAutoscaler))
			if err != nil {
				return Obj{"id": s.Id, "oracle": err.Error()}
			}
			w.stored.Spec = edited.Spec
			w.scale.Name = edited.Spec.ScaleTargetRef.Name
		}
		if t.Generation != nil {
			w.stored.Generation = *t.Generation
		}
		setNs := func(ps []*v1.Pod) {
			for _, p := range ps {
				if p.Namespace == "" {
					p.Namespace = w.ns
				}
			}
		}
		if t.Pods != nil {
			setNs(t.Pods)
			w.pods = t.Pods
		}
		for _, name := range t.PodsRemove {
			kept := w.pods[:0:0]
			for _, p := range w.pods {
				if p.Name != name {
					kept = append(kept, p)
				}
			}
			w.pods = kept
		}
		setNs(t.PodsUpsert)
		for _, p := range t.PodsUpsert {
			found := false
			w.pods = append([]*v1.Pod{}, w.pods...)
			for j, q := range w.pods {
				if q.Name == p.Name {
					w.pods[j], found = p, true
				}
			}
			if !found {
				w.pods = append(w.pods, p)
			}
		}
		if t.Faults.Deleted {
			ctl.Unregister(w.ns, w.name)
		}
		props, perr := ctl.Reconcile(context.Background(), w.stored.DeepCopy(), key)
		w.mon["metrics"] = w.metrics
		rescaled := false
		for _, x := range w.writes {
			rescaled = rescaled || x["outcome"] == "ok"
		}
		o := Obj{"desiredReplicas": w.stored.Status.DesiredReplicas, "status": w.stored.Status.DeepCopy(), "statusWritten": w.written,
			"rescaled": rescaled, "scaleWrites": w.writes, "events": w.events, "monitor": w.mon, "state": ctl.State(key)}
		if len(w.writes) == 0 {
			delete(o, "scaleWrites")
		}
		if perr != nil {
			o["error"] = perr.Error()
		}
		if props != nil {
			o["proposals"] = props
		}
		ticks = append(ticks, o)
	}
	out["ticks"] = ticks
	return out
}

func beforeCreate(ctx context.Context, in *autoscaling.HorizontalPodAutoscaler) []Obj {
	rest.FillObjectMetaSystemFields(in)
	err := rest.BeforeCreate(horizontalpodautoscaler.Strategy, ctx, in)
	if err == nil {
		return nil
	}
	st, ok := err.(apierrors.APIStatus)
	var out []Obj
	if ok && st.Status().Details != nil {
		for _, c := range st.Status().Details.Causes {
			out = append(out, Obj{"type": string(c.Type), "field": c.Field, "message": c.Message})
		}
	}
	if len(out) == 0 {
		out = append(out, Obj{"type": "other", "message": err.Error()})
	}
	sort.SliceStable(out, func(i, j int) bool {
		return fmt.Sprint(out[i]["field"], out[i]["type"], out[i]["message"]) < fmt.Sprint(out[j]["field"], out[j]["type"], out[j]["message"])
	})
	return out
}

// The defaults, by version. What depends on a gate that a scenario turns off is off throughout.
var defaultGates = map[string]map[string]bool{
	"1.34": {"HPAConfigurableTolerance": false, "HPAScaleToZero": false, "PodLevelResources": true},
	"1.35": {"HPAConfigurableTolerance": true, "HPAScaleToZero": false, "PodLevelResources": true},
	"1.36": {"HPAConfigurableTolerance": true, "HPAScaleToZero": false, "PodLevelResources": true, "DeclarativeValidationBeta": true},
	"1.37": {"HPAScaleToZero": true, "HPAGeneration": true, "HPAOptimizedSelectorStore": true, "PodLevelResources": true,
		"DeclarativeValidationBeta": true},
}
var dependents = []string{"PodLevelResourcesFixDefaulting", "InPlacePodLevelResourcesVerticalScaling", "PodLevelResourcesFixKubeletQOSClass",
	"PodLevelResourceManagers"}

func setGates(gates map[string]bool) error {
	all := map[string]bool{}
	for _, k := range dependents {
		all[k] = false
	}
	for k, v := range defaultGates[version] {
		all[k] = v
	}
	for k, v := range gates {
		if _, ok := defaultGates[version][k]; ok { // what is locked is never given
			all[k] = v
		}
	}
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	for k := range all {
		if _, ok := known[featuregate.Feature(k)]; !ok {
			delete(all, k)
		}
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(all)
}

func apiVersion(raw json.RawMessage) string {
	var h struct{ ApiVersion string }
	_ = json.Unmarshal(raw, &h)
	return strings.TrimPrefix(h.ApiVersion, "autoscaling/")
}
