import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { inputsHash } from '../../../manifests/render/inputs-hash.ts';
import { peerName } from '../../../manifests/render/names.ts';
import { statefulSet } from '../../../manifests/render/stateful-set.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import type { Observation } from '../know/observation.ts';
import { situate } from '../know/situation.ts';

/** What the API server does not take of the pods that a spec asks for. */
export interface RefusedTemplate {
  /** Of the spec, as near as the answer tells it: `spec.podTemplate.spec.containers`. */
  readonly field: string;
  readonly message: string;
}

/**
 * Asks the API server, by a dry run, what it would say to a member's StatefulSet as this observation's spec makes it.
 * Nothing is asked where a member has that template already, and nothing is written.
 *
 * @throws {KubeError} where the answer says nothing about the template: no right, no namespace, no answer
 */
export async function tryMembers(
  observation: Observation,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<RefusedTemplate | undefined> {
  const { cluster, effective, slots } = situate(observation);
  const running = slots.find(({ peer, statefulSet: set }) => peer?.current && set?.current);
  if (effective.replicas === 0 || running?.statefulSet?.inputsHash === inputsHash(effective.inputs)) return undefined;
  const { namespace, name } = cluster.metadata;
  const peer: EtcdPeer = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdPeer',
    metadata: {
      name: running?.name ?? peerName(name, 0),
      ...(namespace !== undefined && { namespace }),
      uid: running?.peer?.uid ?? 'to-be-created',
    },
    spec: {
      clusterName: name,
      ordinal: running?.ordinal ?? 0,
      bootstrap: running?.peer?.bootstrap ?? { token: 'to-be-drawn', initialCluster: [], state: 'New' },
      ...effective.inputs,
    },
  };
  const wanted = statefulSet(peer);
  const found = running && (await kube.get<StatefulSet>(resources.statefulSets, namespace, running.name, { signal }));
  const tried = found ? { ...found, spec: { ...found.spec, template: wanted.spec.template } } : wanted;
  try {
    await kube.dryRun(resources.statefulSets, tried, { signal });
    return undefined;
  } catch (error) {
    // 400: a field that it does not know. 422: a value that it does not take. All else is not the template's doing.
    if (!(error instanceof KubeError) || (error.status !== 400 && error.status !== 422)) throw error;
    return { field: fieldIn(error.message), message: `its pods are refused: ${error.message}` };
  }
}

/** Lists of the rendered template have our entries before a person's, so an index would point at another one. */
function fieldIn(message: string): string {
  const inTemplate = /\bspec\.template\.spec\.(\w+)/.exec(message)?.[1];
  return inTemplate === undefined ? 'spec.podTemplate' : `spec.podTemplate.spec.${inTemplate}`;
}
