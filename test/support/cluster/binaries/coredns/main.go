// CoreDNS with those of its plugins that answer from etcd, as its manual describes a build of one's own.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/etcd"
)

func main() {
	dnsserver.Directives = []string{"bind", "errors", "etcd"}
	coremain.Run()
}
