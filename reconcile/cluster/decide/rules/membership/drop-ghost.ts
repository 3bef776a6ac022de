import { ordinalOf, podHost } from '../../../../../manifests/render/names.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { memberOf } from '../../../know/health/health.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * A learner at an address of this cluster, without a volume that says `joining`: an outdated invocation added it after
 * another one had removed that member. It has no vote and no data.
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
    // There is no volume to mark, and no slot: that member never started.
    return act(
      { kind: 'remove-member', name, memberId: id, clusterId: membership.clusterId },
      'RemovingGhost',
      `removing the learner ${name}: it was added too late, and has no EtcdPeer and no volume`,
    );
  }
  return undefined;
}
