//go:build tools

// Package kubernetes pins the HPA controller, and the admission before it, that hpa/build makes a filter of.
package kubernetes

import (
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/controller/podautoscaler"
	_ "k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
)
