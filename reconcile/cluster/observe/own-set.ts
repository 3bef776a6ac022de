import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { StatefulSet } from '../../../manifests/kube-types.ts';
import type { Offered } from '../../../manifests/render/pod-template.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { isReason, type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { differences } from '../../objects/differences.ts';
import { otherHandsOn } from '../../objects/hands.ts';
import type { SetDrift } from '../know/observation.ts';

/**
 * Whether a StatefulSet is as we write it. Its labels, its annotations and our own status prove nothing of what its
 * controller makes pods from: image updaters, policy engines, downscalers and people write there too.
 */

/** What others may set in our template, and what comes of it. All else that they change is written anew. */
export const othersMaySet: Readonly<Record<string, string>> = {
  'kubectl.kubernetes.io/restartedAt':
    'kubectl rollout restart: its member is restarted as after any other change, one at a time',
};

/** As we write it: what can't be changed, and what others may set, stays as it was found. */
export function asOurs(found: StatefulSet, peer: EtcdPeer, offered: Offered): StatefulSet {
  const wanted = statefulSet(peer, offered);
  const { template, ...spec } = wanted.spec;
  const { selector, serviceName, podManagementPolicy, volumeClaimTemplates } = found.spec;
  const annotations = { ...ofOthers(found), ...template.metadata.annotations };
  return {
    ...found,
    metadata: {
      ...found.metadata,
      annotations: { ...found.metadata.annotations, ...wanted.metadata.annotations },
    },
    spec: {
      ...spec,
      selector,
      serviceName,
      ...(podManagementPolicy && { podManagementPolicy }),
      ...(volumeClaimTemplates && { volumeClaimTemplates }),
      template: {
        ...template,
        metadata: { ...template.metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
      },
    },
  };
}

function ofOthers({ spec }: StatefulSet): Readonly<Record<string, string>> {
  const annotations = Object.entries(spec.template.metadata.annotations ?? {});
  return Object.fromEntries(annotations.filter(([key]) => Object.hasOwn(othersMaySet, key)));
}

/** Its content was compared at this very generation: every write to its spec raises that. */
function isNoted(peer: EtcdPeer, { metadata }: StatefulSet): boolean {
  const note = peer.status?.statefulSet;
  return note !== undefined && note.uid === metadata.uid && note.generation === metadata.generation;
}

interface Means {
  readonly kube: Kube;
  readonly offered: () => Promise<Offered>;
  readonly signal: AbortSignal;
}

/** Its controller writes its status in between. */
const attempts = 4;

/**
 * How it differs from what we write, as admission makes it: one dry run where its generation is not known. `undefined`:
 * in nothing.
 *
 * @throws {KubeError} where that may pass by itself
 */
export async function driftOf(
  found: StatefulSet,
  peer: EtcdPeer,
  { kube, offered, signal }: Means,
): Promise<SetDrift | undefined> {
  if (isNoted(peer, found)) return undefined;
  const { namespace, name, uid } = found.metadata;
  for (let latest = found, attempt = 1; ; attempt += 1) {
    try {
      // An installation may have got the class of members since: no other client's change, and written with the next.
      const had = latest.spec.template.spec.priorityClassName === undefined ? {} : await offered();
      // As the write is: a field that this API server does not know was dropped then as well.
      const options = { dropsUnknown: true, signal };
      const wanted = await kube.dryRun(resources.statefulSets, asOurs(latest, peer, had), options);
      return driftBetween(latest, wanted);
    } catch (error) {
      if (!(error instanceof KubeError) || error.class === 'retryable') throw error;
      const { message: cause } = error;
      if (!isReason(error, 'Conflict')) return { kind: 'unknown', cause };
      if (attempt >= attempts) return { kind: 'unknown', cause, mayPass: true };
    }
    const again = await kube.get<StatefulSet>(resources.statefulSets, namespace, name, { signal });
    if (!again || again.metadata.uid !== uid)
      return { kind: 'unknown', cause: `StatefulSet ${name} has gone`, mayPass: true };
    latest = again;
  }
}

/** Its member is stopped, which needs no comparison: a member has one pod. */
export function stoppedBy(found: StatefulSet): SetDrift | undefined {
  const { replicas } = found.spec;
  if (replicas === 1) return undefined;
  return { kind: 'changed', fields: ['spec.replicas'], by: otherHandsOn(found), replicas };
}

function driftBetween(found: StatefulSet, wanted: StatefulSet): SetDrift | undefined {
  const fields = differences(found.spec, wanted.spec, 'spec');
  if (fields.length === 0) return undefined;
  const { replicas } = found.spec;
  return { kind: 'changed', fields, by: otherHandsOn(found), ...(replicas !== 1 && { replicas }) };
}
