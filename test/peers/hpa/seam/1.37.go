package podautoscaler

import (
	"k8s.io/apimachinery/pkg/labels"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	consistencyutil "k8s.io/kubernetes/pkg/controller/util/consistency"
	"k8s.io/kubernetes/pkg/controller/util/selectors"
	"k8s.io/kubernetes/pkg/features"
)

func (c *HorizontalController) rememberSelectors() {
	c.consistencyStore = consistencyutil.NewNoopConsistencyStore()
	if utilfeature.DefaultFeatureGate.Enabled(features.HPAOptimizedSelectorStore) {
		c.selectorTracker = newHPASelectorStore()
	} else {
		c.selectorTracker = newBiMultimapSelectorTracker()
	}
}

func (o *Oracle) Register(ns, name string, s labels.Selector) {
	o.c.selectorTracker.PutIfAbsent(ns, selectors.Key{Namespace: ns, Name: name}, s)
}
func (o *Oracle) Unregister(ns, name string) {
	o.c.selectorTracker.Delete(ns, selectors.Key{Namespace: ns, Name: name})
}
