/** The minors we support, each at the patch release that the tests run. The newest patch is what the modules pin. */
export const etcdVersions = ['3.5.35', '3.6.16', '3.7.3'] as const;
export type EtcdVersion = (typeof etcdVersions)[number];

export type KubernetesBinary = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl';
/** What a real node runs beside the distribution's containerd. */
export type NodeBinary = 'kubelet' | 'kube-proxy';
export type EtcdBinary = 'etcd' | 'etcdutl' | 'etcdctl';
/** A patch of etcd that no one released: its disk is slow. */
export type SlowBinary = 'slow-etcd';
/** One for all minors: what people type is the same for each of them. */
export const etcdctlVersion = '3.6.16';
/** Object stores that others wrote, to try backups against. */
export type EmulatorBinary = 'fake-gcs-server' | 'versitygw';
/** What people install charts with, to try ours. */
export type ChartBinary = 'helm';
/** What people change kustomizations with; kubectl only renders them. */
export type KustomizationBinary = 'kustomize';
/** What plays nodes that run nothing. */
export type SimulatorBinary = 'kwok';
/** What makes metrics of objects, what judges rules by a table of samples, and a collector that prints what it gets. */
export type MonitoringBinary = 'kube-state-metrics' | 'otlp-sink' | 'promtool';

/** A forge that others wrote, to try pull requests against. */
export type ForgeBinary = 'gitea';
/** An issuer of certificates that others wrote. */
export type IssuerBinary = 'cert-manager';

/** A program that uses etcd. */
export type ConsumerBinary = 'coredns' | 'go-client' | LibraryBinary;
/** What others use etcd with, in a program of ours. */
export type LibraryBinary = 'traefik' | 'vitess';

/** What holds a pod's namespaces on a real node: it sleeps. */
export type PauseBinary = 'pause';

/** A program of Knative: each is an image of its own. */
export type KnativeBinary = (typeof servingPrograms | typeof eventingPrograms)[number]['name'];

/** A binary that tests need, and everything that says where it may come from. */
interface Source {
  readonly version: string;
  /** Names the path of a binary outright, e.g. `RATCHET_KUBE_APISERVER` or `RATCHET_ETCD_3_6`. */
  readonly variable: string;
  /** The module below `binaries/` that pins its source. */
  readonly module: string;
  /** The Go package that `go build` is given. */
  readonly goPackage: string;
  /** Leaves out of it what no test needs. */
  readonly tags?: string;
  readonly ldflags: string;
  /** How long a cold build takes on two cores, in seconds, to set expectations. */
  readonly buildSeconds: number;
}

/** A binary that people have, or that its project releases: it reports its version. */
export interface Released extends Source {
  readonly name: KubernetesBinary | NodeBinary | EtcdBinary;
  readonly onlyBuilt?: never;
  /** Of Kubernetes: whether another minor that we support does not do. */
  readonly onlyThisMinor?: boolean;
}

export interface SourceChange {
  readonly goModule: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A binary that is neither looked for on PATH nor downloaded. */
export interface OnlyBuilt extends Source {
  readonly name:
    | EmulatorBinary
    | ChartBinary
    | KustomizationBinary
    | ForgeBinary
    | IssuerBinary
    | MonitoringBinary
    | ConsumerBinary
    | PauseBinary
    | SimulatorBinary
    | SlowBinary
    | KnativeBinary;
  readonly onlyBuilt: true;
  /** One place in the source of a module that it is made of reads otherwise. */
  readonly changed?: SourceChange;
}

export type Wanted = Released | OnlyBuilt;

export function etcd(name: EtcdBinary, version: EtcdVersion): Released {
  const minor = version.split('.').slice(0, 2).join('.');
  return {
    name,
    version,
    variable: `RATCHET_${name.toUpperCase()}_${minor.replace('.', '_')}`,
    module: `etcd-${minor}`,
    goPackage: name === 'etcd' ? 'go.etcd.io/etcd/server/v3' : `go.etcd.io/etcd/${name}/v3`,
    ldflags: '-s -w',
    buildSeconds: name === 'etcdutl' ? 5 : 17,
  };
}

/** Each write of its log to the disk takes 200 ms: that of a bad release, or of a bad disk. */
export const slowEtcd = {
  name: 'slow-etcd',
  version: '3.6.99',
  variable: 'RATCHET_SLOW_ETCD',
  module: 'etcd-3.6',
  goPackage: 'go.etcd.io/etcd/server/v3',
  ldflags: '-s -w -X go.etcd.io/etcd/api/v3/version.Version=3.6.99',
  buildSeconds: 10,
  onlyBuilt: true,
  changed: {
    goModule: 'go.etcd.io/etcd/client/pkg/v3',
    file: 'fileutil/sync_linux.go',
    from: 'return syscall.Fdatasync(int(f.Fd()))',
    to: 'syscall.Select(0, nil, nil, nil, &syscall.Timeval{Usec: 200_000})\n\treturn syscall.Fdatasync(int(f.Fd()))',
  },
} as const satisfies Wanted;

/** What tests of backups need besides: nothing else waits for their builds. */
export const emulators = [
  {
    name: 'fake-gcs-server',
    version: '1.56.1',
    variable: 'RATCHET_FAKE_GCS_SERVER',
    module: 'fake-gcs-server',
    goPackage: 'github.com/fsouza/fake-gcs-server',
    ldflags: '-s -w',
    buildSeconds: 60,
    onlyBuilt: true,
  },
  {
    name: 'versitygw',
    version: '1.8.0',
    variable: 'RATCHET_VERSITYGW',
    module: 'versitygw',
    goPackage: 'github.com/versity/versitygw/cmd/versitygw',
    ldflags: '-s -w',
    buildSeconds: 70,
    onlyBuilt: true,
  },
] as const satisfies readonly Wanted[];

/** What tests of the chart need besides. */
export const helm = {
  name: 'helm',
  version: '4.3.1',
  variable: 'RATCHET_HELM',
  module: 'helm',
  goPackage: 'helm.sh/helm/v4/cmd/helm',
  ldflags: '-s -w',
  buildSeconds: 150,
  onlyBuilt: true,
} as const satisfies Wanted;

/** What the test that types pages needs besides. */
export const kustomize = {
  name: 'kustomize',
  version: '5.8.1',
  variable: 'RATCHET_KUSTOMIZE',
  module: 'kustomize',
  goPackage: 'sigs.k8s.io/kustomize/kustomize/v5',
  ldflags: '-s -w',
  buildSeconds: 20,
  onlyBuilt: true,
} as const satisfies Wanted;

/** Nodes whose pods are said to run, for clusters in numbers that no machine here could run. */
export const kwok = {
  name: 'kwok',
  version: '0.8.0',
  variable: 'RATCHET_KWOK',
  module: 'kwok',
  goPackage: 'sigs.k8s.io/kwok/cmd/kwok',
  ldflags: '-s -w',
  buildSeconds: 170,
  onlyBuilt: true,
} as const satisfies Wanted;

/** A main of ours around its packages, with a SQLite that needs no C compiler. */
export const gitea = {
  name: 'gitea',
  version: '1.26.0',
  variable: 'RATCHET_GITEA',
  module: 'gitea',
  goPackage: '.',
  ldflags: '-s -w -X main.version=1.26.0',
  buildSeconds: 240,
  onlyBuilt: true,
} as const satisfies Wanted;

/** A main of ours around the controllers that issue from a CA in the cluster. */
export const certManager = {
  name: 'cert-manager',
  version: '1.21.2',
  variable: 'RATCHET_CERT_MANAGER',
  module: 'cert-manager',
  goPackage: '.',
  ldflags: '-s -w',
  buildSeconds: 90,
  onlyBuilt: true,
} as const satisfies Wanted;

/** A program of ours with etcd's own Go client. */
export const goClient = {
  name: 'go-client',
  version: '3.6.16',
  variable: 'RATCHET_GO_CLIENT',
  module: 'go-client',
  goPackage: '.',
  ldflags: '-s -w',
  buildSeconds: 10,
  onlyBuilt: true,
} as const satisfies Wanted;

/** Programs of ours around what Traefik and Vitess use etcd with. */
export const libraries = [
  {
    name: 'traefik',
    version: '3.7.13',
    variable: 'RATCHET_TRAEFIK',
    module: 'traefik',
    goPackage: '.',
    ldflags: '-s -w',
    buildSeconds: 60,
    onlyBuilt: true,
  },
  {
    name: 'vitess',
    version: '0.24.4',
    variable: 'RATCHET_VITESS',
    module: 'vitess',
    goPackage: '.',
    ldflags: '-s -w',
    buildSeconds: 60,
    onlyBuilt: true,
  },
] as const satisfies readonly Wanted[];

/** A DNS server that answers from etcd, without its other plugins. */
export const coreDns = {
  name: 'coredns',
  version: '1.15.0',
  variable: 'RATCHET_COREDNS',
  module: 'coredns',
  goPackage: '.',
  ldflags: '-s -w',
  buildSeconds: 60,
  onlyBuilt: true,
} as const satisfies Wanted;

/** A program of ours, for the image of the container that every pod of a real node has. */
export const pause = {
  name: 'pause',
  version: '1.0.0',
  variable: 'RATCHET_PAUSE',
  module: 'pause',
  goPackage: '.',
  ldflags: '-s -w',
  buildSeconds: 3,
  onlyBuilt: true,
} as const satisfies Wanted;

const servingPrograms = [
  { name: 'serving-activator', command: 'activator' },
  { name: 'serving-autoscaler', command: 'autoscaler' },
  { name: 'serving-controller', command: 'controller' },
  { name: 'serving-queue', command: 'queue' },
  { name: 'serving-webhook', command: 'webhook' },
] as const;

const eventingPrograms = [
  { name: 'eventing-apiserver-receive-adapter', command: 'apiserver_receive_adapter' },
  { name: 'eventing-broker-filter', command: 'broker/filter' },
  { name: 'eventing-broker-ingress', command: 'broker/ingress' },
  { name: 'eventing-controller', command: 'controller' },
  { name: 'eventing-channel-controller', command: 'in_memory/channel_controller' },
  { name: 'eventing-channel-dispatcher', command: 'in_memory/channel_dispatcher' },
  { name: 'eventing-mtchannel-broker', command: 'mtchannel_broker' },
  { name: 'eventing-mtping', command: 'mtping' },
  { name: 'eventing-webhook', command: 'webhook' },
] as const;

/** What a test of Knative itself needs besides. */
export const knative = [
  ...servingPrograms.map((program) => knativeProgram('serving', program)),
  ...eventingPrograms.map((program) => knativeProgram('eventing', program)),
];

function knativeProgram(
  half: 'serving' | 'eventing',
  { name, command }: { readonly name: KnativeBinary; readonly command: string },
): OnlyBuilt & { readonly name: KnativeBinary } {
  return {
    name,
    version: '0.46.0',
    variable: `RATCHET_KNATIVE_${name.toUpperCase().replaceAll('-', '_')}`,
    module: `knative-${half}`,
    goPackage: `knative.dev/${half}/cmd/${command}`,
    ldflags: '-s -w',
    buildSeconds: 15,
    onlyBuilt: true,
  };
}

/** What tests of metrics and alerts need besides. */
export const monitoring = [
  {
    name: 'kube-state-metrics',
    version: '2.18.0',
    variable: 'RATCHET_KUBE_STATE_METRICS',
    module: 'kube-state-metrics',
    goPackage: 'k8s.io/kube-state-metrics/v2',
    ldflags: '-s -w',
    buildSeconds: 65,
    onlyBuilt: true,
  },
  {
    name: 'promtool',
    version: '3.11.0',
    variable: 'RATCHET_PROMTOOL',
    module: 'prometheus',
    goPackage: 'github.com/prometheus/prometheus/cmd/promtool',
    // Without a client for each cloud's list of machines.
    tags: 'remove_all_sd',
    ldflags: '-s -w',
    buildSeconds: 50,
    onlyBuilt: true,
  },
  {
    name: 'otlp-sink',
    version: '1.9.0',
    variable: 'RATCHET_OTLP_SINK',
    module: 'otlp-sink',
    goPackage: '.',
    ldflags: '-s -w',
    buildSeconds: 3,
    onlyBuilt: true,
  },
] as const satisfies readonly Wanted[];

/** For people: `etcd 3.6.16`. */
export function title(wanted: Wanted): string {
  return `${wanted.name} ${wanted.version}`;
}

/** `etcd 3.6.16, etcdutl 3.6.16` */
export function titles(wanted: readonly Wanted[]): string {
  return wanted.map(title).join(', ');
}
