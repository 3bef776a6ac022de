import { type EtcdVersion, etcd, etcdctlVersion, type Wanted } from './catalogue.ts';
import { type ChosenKubernetes, kubernetes } from './kubernetes.ts';

/** Everything the local cluster needs, in the order that makes the Go build cache most useful. */
export function catalogueFor(chosen: ChosenKubernetes, versions: readonly EtcdVersion[]): readonly Wanted[] {
  return [
    kubernetes('kube-apiserver', chosen),
    kubernetes('kube-controller-manager', chosen),
    kubernetes('kube-scheduler', chosen),
    kubernetes('kubectl', chosen),
    ...versions.flatMap((version) => [etcd('etcd', version), etcd('etcdutl', version)]),
    etcd('etcdctl', etcdctlVersion),
  ];
}
