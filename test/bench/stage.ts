import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { connectKube } from '../../reconcile/clients/kube.ts';
import { type Kube, resources } from '../../reconcile/interfaces/kube.ts';
import { type Clone, clone } from '../demo/clone.ts';
import { fleetObjects, install } from '../demo/install.ts';
import { until } from '../e2e/support/until.ts';
import type { Kubectl } from '../support/cluster/kubectl.ts';
import type { LocalCluster } from '../support/cluster/local-cluster.ts';
import { type ForgeServer, startForge } from '../support/git/forge.ts';
import { type GitServer, startGitServer } from '../support/git/server.ts';

/** The installation that is measured: as in the demo, without its story. */
export interface Stage extends AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly kubectl: Kubectl;
  readonly kube: Kube;
  readonly git: GitServer;
  readonly forge: ForgeServer;
  readonly work: Clone;
}

export const namespace = 'payments';
/** Where pods reach what runs beside the cluster: the pod network's gateway. */
const outside = '10.244.0.1';
const token = 'bench-token';

/** Installs into the cluster and sets a fleet up; no tick comes by itself. */
export async function openStage(cluster: LocalCluster, directory: string): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const { kubectl, kubeconfigPath } = cluster;
  const git = opening.use(await startGitServer({ host: '0.0.0.0', port: 8080, auth: { token } }));
  const forge = opening.use(await startForge({ host: '0.0.0.0', port: 8081, token }));
  const repository = await git.createRepository('platform/etcd');
  const gitUrl = `http://${outside}:8080/${new URL(repository.url).pathname.slice(1)}`;
  await install(kubectl);
  // A tick in between would spoil the counts. Not suspended: follow-ups would heed that.
  const never = { spec: { schedule: '0 0 29 2 *' } };
  await kubectl(['-n', 'etcd-ratchet', 'patch', 'cronjob', 'etcd-ratchet', '-p', JSON.stringify(never)]);
  await kubectl(['apply', '--server-side', '-f', '-'], {
    stdin: fleetObjects({ gitUrl, apiUrl: `http://${outside}:8081/api/v1`, token }),
  });
  const kube = await connectKube({ userAgent: 'bench/0', kubeconfig: kubeconfigPath });
  opening.defer(() => kube.close());
  const work = await clone(gitUrl, directory, token);
  const opened = opening.move();
  return { cluster, kubectl, kube, git, forge, work, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

export function clusterYaml(name: string, replicas: number): string {
  return `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdCluster
metadata: {name: ${name}, namespace: ${namespace}}
spec: {replicas: ${replicas}, version: 3.6.16, storage: {size: 1Gi}}
`;
}

/** Takes a cluster away with its volumes, and waits until nothing of it runs. */
export async function remove({ kubectl, kube }: Stage, { metadata: { name } }: EtcdCluster): Promise<void> {
  const own = ['-l', `etcd.ratchet.dev/cluster=${name}`];
  await kubectl(['-n', namespace, 'delete', 'etcdcluster', name]);
  await until(`${name} is gone`, async () => (await podsOf(kube, namespace, name)).length === 0);
  await kubectl(['-n', namespace, 'delete', 'pvc', ...own]);
}

export async function podsOf(kube: Kube, inNamespace: string, name: string): Promise<readonly Pod[]> {
  const { items } = await kube.list<Pod>(resources.pods, {
    namespace: inNamespace,
    labelSelector: `etcd.ratchet.dev/cluster=${name}`,
  });
  return items;
}

export function isPodReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}
