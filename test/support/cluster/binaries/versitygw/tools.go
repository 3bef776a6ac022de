//go:build tools

// Package tools pins the module that versitygw is built from; go.sum is its checksum.
package tools

import _ "github.com/versity/versitygw/cmd/versitygw"
