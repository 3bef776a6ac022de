import {
  type EtcdBinary,
  type EtcdVersion,
  etcdctlVersion,
  etcdVersions,
  type KubernetesBinary,
} from './binaries/catalogue.ts';
import { chosenKubernetes, type KubernetesVersion } from './binaries/kubernetes.ts';
import { pathIn, provide } from './binaries/provide.ts';
import { catalogueFor } from './binaries/whole-cluster.ts';
import { type Handed, handed } from './handed.ts';

export { type EtcdVersion, etcdVersions } from './binaries/catalogue.ts';

/** Absolute paths of everything the local cluster runs, with these versions of etcd. */
export interface Binaries<V extends EtcdVersion = EtcdVersion> {
  readonly kubernetes: Readonly<Record<KubernetesBinary, string>>;
  readonly etcd: Readonly<Record<V, string>>;
  readonly etcdutl: Readonly<Record<V, string>>;
  readonly etcdctl: string;
}

/** The control plane's own etcd is 3.6. */
export type LeastBinaries = Binaries<'3.6.16'>;

export const allBinaries = binariesWith(etcdVersions);
export const { provide: provisionBinaries, environment: binariesEnvironment } = allBinaries;

/** What the demo shows to its end: nobody who sees it for the first time waits for more to be built. */
export const demoBinaries = binariesWith(['3.6.16', '3.7.3'] as const);

function binariesWith<V extends EtcdVersion>(versions: readonly V[]): Handed<Binaries<V>> {
  return handed<Binaries<V>>('RATCHET_BINARIES', async (options) => {
    const chosen = chosenKubernetes(options.environment ?? process.env);
    return arrange(pathIn(await provide(catalogueFor(chosen, versions), options)), chosen.version, versions);
  });
}

function arrange<V extends EtcdVersion>(
  path: ReturnType<typeof pathIn>,
  kubernetesVersion: KubernetesVersion,
  versions: readonly V[],
): Binaries<V> {
  const inEachVersion = (name: EtcdBinary) =>
    Object.fromEntries(versions.map((version) => [version, path(name, version)])) as Record<V, string>;
  return {
    kubernetes: {
      'kube-apiserver': path('kube-apiserver', kubernetesVersion),
      'kube-controller-manager': path('kube-controller-manager', kubernetesVersion),
      'kube-scheduler': path('kube-scheduler', kubernetesVersion),
      kubectl: path('kubectl', kubernetesVersion),
    },
    etcd: inEachVersion('etcd'),
    etcdutl: inEachVersion('etcdutl'),
    etcdctl: path('etcdctl', etcdctlVersion),
  };
}
