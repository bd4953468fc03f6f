//go:build tools

// Package tools names the programs that test/bench/front.py measures beside Envoy.
package tools

import (
	_ "knative.dev/serving/cmd/activator"
	_ "knative.dev/serving/cmd/queue"
)
