import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import { readVolumeRecord } from '../../../manifests/render/volume-record.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { Data } from './members.ts';
import type { Formation, Process, State } from './state.ts';

/** Revisions as clients see them. */

/** What was restored is ahead of its writes. */
export function revisionOf({ formations }: State, { clusterId, applied }: Data): number {
  return applied + (formations.get(clusterId)?.ahead ?? 0);
}

/**
 * Clients are told what their cluster wrote. I17: where a rollback gave up what they watched, they learn that from
 * `compacted`, because what took its place begins above all that they saw.
 */
export function tellClients(state: State, formation: Formation, { cluster, data, pod }: Process): void {
  const key = `${pod.split('/')[0]}/${cluster}`;
  const { clusterId } = data;
  const revision = revisionOf(state, data);
  const saw = state.saw.get(key);
  const isNext = saw !== undefined && saw.clusterId !== clusterId && gaveUp(state, clusterId, saw.clusterId);
  if (isNext && saw.revision + 1 >= (formation.compacted ?? 0))
    state.violations.push(
      `I17: clients of ${cluster} saw revision ${saw.revision}, and resume at one that begins with ${formation.compacted}`,
    );
  state.saw.set(key, { clusterId, revision });
}

function gaveUp(state: State, clusterId: string, former: string): boolean {
  return state.kube.stored<PersistentVolumeClaim>(resources.volumeClaims).some(({ metadata }) => {
    const read = readVolumeRecord(metadata.annotations);
    const isOurs = state.disks.get(metadata.uid ?? '')?.clusterId === clusterId;
    return isOurs && read.kind === 'valid' && read.record.gaveUp?.includes(former) === true;
  });
}
