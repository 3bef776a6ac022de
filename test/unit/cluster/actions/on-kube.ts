import type { KubeObject, Secret } from '../../../../manifests/kube-types.ts';
import type { NameAllowance } from '../../../../manifests/render/certificate-allowance.ts';
import { ownerReference } from '../../../../manifests/render/owner-reference.ts';
import { definitionOf } from '../../../../reconcile/cluster/act/act.ts';
import { leasedOf } from '../../../../reconcile/cluster/act/actions/define.ts';
import { requests } from '../../../../reconcile/cluster/act/requests/all.ts';
import type { Written } from '../../../../reconcile/cluster/act/requests/request.ts';
import { runLive } from '../../../../reconcile/cluster/act/requests/run-live.ts';
import type { Action } from '../../../../reconcile/cluster/know/action.ts';
import type { Observation } from '../../../../reconcile/cluster/know/observation.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { writtenBy } from '../../../../reconcile/requests/define.ts';
import type { Request } from '../../../../reconcile/requests/program.ts';
import { createFakeKube, type FakeKube } from '../../../support/fakes/kube.ts';
import { namespace } from '../observations.ts';

/** Actions carried out by their live halves, against an API server in memory. */

/** With the cluster and the peers that are observed, and nothing else. */
export function kubeOf({ cluster, slots, at }: Observation): FakeKube {
  const kube = createFakeKube({ clock: () => at });
  kube.seed(resources.clusters, cluster);
  for (const { name, peer } of slots) {
    const metadata = {
      name,
      namespace,
      uid: peer?.uid ?? '',
      ownerReferences: [ownerReference('EtcdCluster', cluster)],
    };
    const spec = { ...peer?.inputs, bootstrap: peer?.bootstrap };
    kube.seed(resources.peers, {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdPeer',
      metadata,
      spec,
    } as KubeObject);
  }
  return kube;
}

export interface Exchange {
  readonly request: Request;
  readonly answer: unknown;
}

/** @param beforeWrite what others do just before a write is sent. @returns every request with its answer. */
export async function carryOut(
  action: Action,
  { cluster }: Observation,
  kube: FakeKube,
  beforeWrite: (written: Written) => void = () => {},
  nameAllowances: readonly NameAllowance[] = [],
): Promise<readonly Exchange[]> {
  const definition = definitionOf(action);
  if (!definition) throw new Error(`${action.kind} is no program`);
  const exchanges: Exchange[] = [];
  const etcd = { endpoints: new Map<string, string>(), connect: () => Promise.reject(new Error('there is no etcd')) };
  const program = watched(definition.run(action as never, leasedOf(cluster)), { exchanges, beforeWrite });
  await runLive(program as ReturnType<typeof definition.run>, {
    kube,
    etcd,
    cluster,
    nameAllowances,
    signal: AbortSignal.timeout(60_000),
  });
  return exchanges;
}

interface Watching {
  readonly exchanges: Exchange[];
  readonly beforeWrite: (written: Written) => void;
}

type Yielded = Request | { readonly sideBySide: readonly Generator<Yielded, unknown, unknown>[] };

function* watched<R>(program: Generator<Yielded, R, unknown>, watching: Watching): Generator<Yielded, R, unknown> {
  let step = program.next();
  while (!step.done) {
    const yielded = step.value;
    let answer: unknown;
    try {
      if ('sideBySide' in yielded) {
        answer = yield { sideBySide: yielded.sideBySide.map((one) => watched(one, watching)) };
      } else {
        const written = writtenBy(yielded, requests);
        if (written) watching.beforeWrite(written);
        answer = yield yielded;
        watching.exchanges.push({ request: yielded, answer });
      }
    } catch (error) {
      step = program.throw(error);
      continue;
    }
    step = program.next(answer);
  }
  return step.value;
}

export function secretIn(kube: FakeKube, name: string): Secret | undefined {
  return kube.stored<Secret>(resources.secrets).find(({ metadata }) => metadata.name === name);
}

/** As another hand would: its version is another one from now on. */
export function touchSecret(kube: FakeKube, name: string, metadata: Partial<Secret['metadata']> = {}): void {
  const found = secretIn(kube, name) ?? { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } };
  const annotations = { ...found.metadata.annotations, 'others.example/note': 'theirs' };
  kube.seed<Secret>(resources.secrets, {
    ...found,
    metadata: { ...found.metadata, annotations, ...metadata },
  } as Secret);
}
