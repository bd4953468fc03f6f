// A scenario, as shared vectors have it.
package main

import (
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"
	cmapi "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	emapi "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	metricsapi "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

type Obj = map[string]any

type Custom struct {
	Kind, Object, Metric, Selector string
	Error                          *string
	Items                          []cmapi.MetricValue
}
type External struct {
	Metric, Selector string
	Error            *string
	Items            []emapi.ExternalMetricValue
}
type Tick struct {
	Now   time.Time
	Scale *struct {
		SpecReplicas, StatusReplicas *int32
		Selector                     *string
	}
	Spec       json.RawMessage
	Generation *int64
	Pods       []*v1.Pod
	PodsRemove []string
	PodsUpsert []*v1.Pod
	Metrics    struct {
		Resource *struct {
			Error *string
			Items []metricsapi.PodMetrics
		}
		Custom   []Custom
		External []External
	}
	Faults struct {
		GetScale     string
		UpdateScale  []string
		UpdateStatus string
		ListPods     string
		Deleted      bool
	}
}
type Rec struct {
	Replicas int32
	Time     time.Time
}
type Ev struct {
	Change   int32
	Time     time.Time
	Outdated bool
}
type Scenario struct {
	Id     string
	Config struct {
		Tolerance                      float64
		DownscaleStabilizationSeconds  float64
		CpuInitializationPeriodSeconds float64
		InitialReadinessDelaySeconds   float64
		FeatureGates                   map[string]bool
		KubernetesVersion              string
	}
	Autoscaler       json.RawMessage
	SkipAdmission    bool
	OtherAutoscalers []struct{ Namespace, Name, Selector string }
	State            struct {
		Recommendations                []Rec
		ScaleUpEvents, ScaleDownEvents []Ev
	}
	Ticks []Tick
}
