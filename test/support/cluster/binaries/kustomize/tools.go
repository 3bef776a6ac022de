//go:build tools

// Package tools pins the module that kustomize is built from; go.sum is its checksum.
package tools

import _ "sigs.k8s.io/kustomize/kustomize/v5"
