//go:build tools

// Package tools pins the module that kwok is built from; go.sum is its checksum.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
