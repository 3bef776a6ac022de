import { type EtcdBinary, type EtcdVersion, etcdctlVersion, type KubernetesBinary } from './binaries/catalogue.ts';
import { chosenKubernetes, type KubernetesVersion } from './binaries/kubernetes.ts';
import { pathIn, provide } from './binaries/provide.ts';
import { catalogueFor } from './binaries/whole-cluster.ts';
import { handed } from './handed.ts';

export { type EtcdVersion, etcdVersions } from './binaries/catalogue.ts';

/** Absolute paths of everything the local cluster runs. */
export interface Binaries {
  readonly kubernetes: Readonly<Record<KubernetesBinary, string>>;
  readonly etcd: Readonly<Record<EtcdVersion, string>>;
  readonly etcdutl: Readonly<Record<EtcdVersion, string>>;
  readonly etcdctl: string;
}

export const { provide: provisionBinaries, environment: binariesEnvironment } = handed<Binaries>(
  'RATCHET_BINARIES',
  async (options) => {
    const chosen = chosenKubernetes(options.environment ?? process.env);
    return arrange(pathIn(await provide(catalogueFor(chosen), options)), chosen.version);
  },
);

function arrange(path: ReturnType<typeof pathIn>, kubernetesVersion: KubernetesVersion): Binaries {
  const inEveryVersion = (name: EtcdBinary) => ({
    '3.5.35': path(name, '3.5.35'),
    '3.6.16': path(name, '3.6.16'),
    '3.7.3': path(name, '3.7.3'),
  });
  return {
    kubernetes: {
      'kube-apiserver': path('kube-apiserver', kubernetesVersion),
      'kube-controller-manager': path('kube-controller-manager', kubernetesVersion),
      'kube-scheduler': path('kube-scheduler', kubernetesVersion),
      kubectl: path('kubectl', kubernetesVersion),
    },
    etcd: inEveryVersion('etcd'),
    etcdutl: inEveryVersion('etcdutl'),
    etcdctl: path('etcdctl', etcdctlVersion),
  };
}
