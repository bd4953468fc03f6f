//go:build tools

// Package original pins the prometheus-adapter that flyball is compared with.
package original

import (
	_ "sigs.k8s.io/prometheus-adapter/cmd/adapter"
)
