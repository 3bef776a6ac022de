module etcd.ratchet.dev/test/pause

go 1.26.0
