import { randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { connectKube } from '../../../reconcile/clients/kube.ts';
import { type Kube, type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { environment } from '../../e2e/support/environment.ts';
import { releaseFinalizers } from '../../e2e/support/furniture.ts';
import { clusterYaml } from '../../e2e/support/specs.ts';
import { until } from '../../e2e/support/until.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';

/**
 * A namespace on the ground of KUBECONFIG, and nothing beside the API server to ask: what runs there runs in pods, so
 * that any cluster does.
 */
export interface Ground {
  readonly namespace: string;
  readonly kube: Kube;
  readonly kubectl: Kubectl;
  apply(name: string, fields?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Waits until the installation's own ticks have made it so. @throws with its status when they do not in time */
  untilCluster(name: string, check: (cluster: EtcdCluster) => boolean, within?: number): Promise<EtcdCluster>;
  /** What a pod of one container prints until it ends well. @throws with what it printed when it does not */
  outputOf(pod: PodToRun): Promise<string>;
}

export interface PodToRun {
  readonly name: string;
  /** Of the pod. */
  readonly spec: Readonly<Record<string, unknown>> & { readonly containers: readonly object[] };
}

/** Set up before the tests of a file, and taken down after them, also when they fail. */
export function ground(): () => Ground {
  let opened: (Ground & AsyncDisposable) | undefined;
  before(async () => {
    opened = await openGround();
  });
  after(async () => opened?.[Symbol.asyncDispose]());
  return () => {
    if (!opened) throw new Error('the ground is only there while its tests run');
    return opened;
  };
}

/** A tick a minute, and what it began: a birth that meets the end of one takes the next. */
const usualPatience = 180;

async function openGround(): Promise<Ground & AsyncDisposable> {
  const { kubeconfig, kubectl } = environment();
  const kube = await connectKube({ userAgent: 'e2e/0', kubeconfig });
  const namespace = `real-${randomBytes(4).toString('hex')}`;
  await kubectl(['create', 'namespace', namespace]);
  return {
    namespace,
    kube,
    kubectl,
    apply: async (name, fields) => {
      await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
    },
    untilCluster: (name, check, within = usualPatience) => {
      let last = '';
      const look = async () => {
        const found = await kube.get<EtcdCluster>(resources.clusters, namespace, name);
        last = JSON.stringify(found?.status?.lastDecision);
        return found && check(found) ? found : undefined;
      };
      return until(`${name} as expected`, look, { within, every: 500, last: () => last });
    },
    outputOf: ({ name, spec }) => outputOf(kubectl, namespace, name, spec),
    async [Symbol.asyncDispose]() {
      await using _ = { [Symbol.asyncDispose]: async () => kube.close() };
      await removeAll(kube, namespace);
      await kubectl(['delete', 'namespace', namespace, '--wait=false']);
    },
  };
}

/** Without their finalizers: the installation that would see to them may be gone. */
async function removeAll(kube: Kube, namespace: string): Promise<void> {
  for (const resource of [resources.clusters, resources.peers]) {
    const { items } = await kube.list<KubeObject>(resource, { namespace });
    for (const { metadata } of items) {
      const preconditions = { uid: metadata.uid ?? '' };
      await kube.delete(resource, namespace, metadata.name, { preconditions, propagation: 'Background' });
    }
    for (const { metadata } of items) await releaseFinalizers(kube, resource, namespace, metadata.name);
  }
}

async function outputOf(kubectl: Kubectl, namespace: string, name: string, spec: PodToRun['spec']): Promise<string> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, ...spec },
  };
  await kubectl(['-n', namespace, 'create', '-f', '-'], { stdin: JSON.stringify(pod) });
  let phase = '';
  const ended = async () => {
    phase = await kubectl(['-n', namespace, 'get', 'pod', name, '-o', 'jsonpath={.status.phase}']);
    return phase === 'Succeeded' || phase === 'Failed';
  };
  await until(`pod ${name} ended`, ended, { within: 90, every: 300, last: () => phase });
  const said = await kubectl(['-n', namespace, 'logs', name]);
  await kubectl(['-n', namespace, 'delete', 'pod', name]);
  if (phase === 'Failed') throw new Error(`pod ${name} failed; it said: ${said}`);
  return said;
}
