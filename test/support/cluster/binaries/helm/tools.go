//go:build tools

// Package tools pins the module that helm is built from; go.sum is its checksum.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
