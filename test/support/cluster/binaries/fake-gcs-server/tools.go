//go:build tools

// Package tools pins the module that fake-gcs-server is built from; go.sum is its checksum.
package tools

import _ "github.com/fsouza/fake-gcs-server"
