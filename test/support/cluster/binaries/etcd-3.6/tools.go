//go:build tools

// Package tools pins the modules that etcd, etcdctl and etcdutl are built from; go.sum is their checksum.
package tools

import (
	_ "go.etcd.io/etcd/etcdctl/v3"
	_ "go.etcd.io/etcd/etcdutl/v3"
	_ "go.etcd.io/etcd/server/v3"
)
