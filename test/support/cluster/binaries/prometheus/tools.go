//go:build tools

// Package tools pins the module that promtool is built from; go.sum is its checksum.
package tools

import (
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
