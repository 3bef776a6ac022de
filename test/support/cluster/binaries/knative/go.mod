// Pins the modules whose CustomResourceDefinitions are read; go.sum is their checksum. Nothing is built from them.
module etcd.ratchet.dev/test/knative

go 1.26.0

require (
	knative.dev/eventing v0.46.0
	knative.dev/serving v0.46.0
)
