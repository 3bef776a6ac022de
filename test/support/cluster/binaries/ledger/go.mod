module etcd.ratchet.dev/test/ledger

go 1.26.0
