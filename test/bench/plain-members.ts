import { memberLeaves } from '../../manifests/render/certificate-names.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import { leafOf, newAuthority, putSecret } from '../e2e/support/certificates.ts';
import { until } from '../e2e/support/until.ts';
import type { Kubectl } from '../support/cluster/kubectl.ts';
import { isPodReady, namespace, podsOf, type Stage } from './stage.ts';

export interface Listed {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

const kinds = 'services,configmaps,persistentvolumeclaims,statefulsets';
const annotation = 'etcd.ratchet.dev/initial-cluster';
/** What the API server and the volume controller chose; a headless Service's `None` was our choice. */
const chosen = new Set(['clusterIP', 'clusterIPs', 'volumeName']);

/**
 * The very objects of a cluster that is there, applied by one kubectl in a namespace of their own, with nobody to
 * reconcile them: seconds until all three pods are Ready. That is what the pods themselves take, etcd's bootstrap
 * included.
 */
export async function plainMembers({ kubectl, kube }: Stage, name: string, into: string): Promise<number> {
  const items = await listedOf(kubectl, name);
  const members = items.flatMap(({ metadata }) => metadata.annotations?.[annotation] ?? [])[0];
  if (members === undefined) throw new Error(`no volume of ${name} says who its members were`);
  const bootstrap = { initialCluster: members, state: 'new' } as const;
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: items.map((item) => afresh(item, bootstrap)) });
  const stdin = text.replaceAll(`.${namespace}.svc`, `.${into}.svc`);
  await kubectl(['create', 'namespace', into]);
  await until(`${into} has its service account`, () => kubectl(['-n', into, 'get', 'serviceaccount', 'default']));
  await provideCertificates(kube, into, name);
  const started = performance.now();
  await kubectl(['-n', into, 'apply', '-f', '-'], { stdin });
  await until(
    `${into} Ready`,
    async () => {
      const pods = await podsOf(kube, into, name);
      return pods.length === 3 && pods.every(isPodReady);
    },
    { within: 120, every: 50 },
  );
  const seconds = (performance.now() - started) / 1000;
  await kubectl(['delete', 'namespace', into, '--wait=false']);
  await until(`the pods of ${into} are gone`, async () => (await podsOf(kube, into, name)).length === 0);
  return seconds;
}

/**
 * Made before the clock starts, by somebody who has them ready: the names in those of the cluster are of another
 * namespace.
 */
async function provideCertificates(kube: Kube, namespace: string, cluster: string): Promise<void> {
  const authorities = { peer: await newAuthority('plain peers'), client: await newAuthority('plain clients') };
  for (const ordinal of [0, 1, 2]) {
    for (const plan of memberLeaves({ namespace, cluster }, `${cluster}-${ordinal}`)) {
      await putSecret({ kube, namespace }, plan.secretName, await leafOf(plan, authorities[plan.authority]));
    }
  }
}

/** What a cluster consists of, without its pods. */
export async function listedOf(kubectl: Kubectl, name: string): Promise<readonly Listed[]> {
  const listed = await kubectl(['-n', namespace, 'get', kinds, '-l', `etcd.ratchet.dev/cluster=${name}`, '-o', 'json']);
  return (JSON.parse(listed) as { readonly items: readonly Listed[] }).items;
}

/** To be applied once more, its member with this list. */
export function afresh(
  { apiVersion, kind, metadata: { name, labels = {} }, data, spec }: Listed,
  { initialCluster, state }: { readonly initialCluster: string; readonly state: 'new' | 'existing' },
): Listed {
  const ours =
    spec && Object.fromEntries(Object.entries(spec).filter(([key]) => !chosen.has(key) || spec.clusterIP === 'None'));
  return {
    apiVersion,
    kind,
    metadata: { name, labels },
    // Sealed since it was born; these are to be born again.
    ...(data && { data: { ETCD_INITIAL_CLUSTER: initialCluster, ETCD_INITIAL_CLUSTER_STATE: state } }),
    ...(ours && { spec: ours }),
  };
}
