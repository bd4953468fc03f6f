package podautoscaler

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubernetes/pkg/controller/util/selectors"
)

func (c *HorizontalController) rememberSelectors() { c.hpaSelectors = selectors.NewBiMultimap() }

func (o *Oracle) Register(ns, name string, s labels.Selector) {
	o.c.hpaSelectors.PutSelector(selectors.Key{Namespace: ns, Name: name}, s)
}
func (o *Oracle) Unregister(ns, name string) {
	o.c.hpaSelectors.DeleteSelector(selectors.Key{Namespace: ns, Name: name})
}
