import { ordinalOf, podHost } from '../../../manifests/build/names.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { memberOf } from '../health.ts';

/**
 * A learner at an address of ours, with no volume that says `joining`: added by an invocation that slept until somebody else had
 * taken that member away again. It has no vote and no data.
 */
export function dropGhost({ membership, slots, cluster }: Situation): Decision | undefined {
  if (membership.kind === 'unknown') return undefined;
  const { name: clusterName, namespace = '' } = cluster.metadata;
  for (const { id, isLearner, name: started, peerURLs } of membership.members) {
    if (!isLearner || started !== '' || slots.some((slot) => memberOf(slot, membership.members)?.id === id)) continue;
    const host = new URL(peerURLs[0] ?? 'http://none').hostname.split('.')[0] ?? '';
    const name = host.replace(/-0$/, '');
    if (ordinalOf(clusterName, name) === undefined || slots.some((slot) => slot.name === name)) continue;
    if (!peerURLs.every((url) => new URL(url).hostname === podHost(namespace, clusterName, name))) continue;
    // There is no volume to mark, and no slot: whoever may be behind it never started.
    return act(
      { kind: 'remove-member', name, memberId: id, clusterId: membership.clusterId },
      'RemovingGhost',
      `removing the learner ${name}, which was added too late: nothing stands for it any more`,
    );
  }
  return undefined;
}
