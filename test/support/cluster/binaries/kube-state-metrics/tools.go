//go:build tools

// Package tools pins the module that kube-state-metrics is built from; go.sum is its checksum.
package tools

import (
	_ "k8s.io/kube-state-metrics/v2"
)
