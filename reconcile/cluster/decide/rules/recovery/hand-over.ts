import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { hasDeparted } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { awaitEnds, mark, stop } from './recover-quorum.ts';

/**
 * A rollback whose data are restored, and whose member has not started yet: the cluster that is given up ends before
 * that. Its volumes are marked, its members stop, each is seen ended, and its peers go; the volumes are kept.
 *
 * Guards I11: never two clusters under one name. From here on it is finished, whatever the approval says by now.
 */
export function handOver(chosen: Slot, { gaveUp, recovery }: VolumeRecord, situation: Situation): Decision | undefined {
  if (!gaveUp || !recovery) return undefined;
  // Also members whose volumes are gone. No other member has been added yet.
  const former = situation.slots.filter((slot) => slot !== chosen && (hasDeparted(slot) || !slot.volume));
  const stopping = mark(situation) ?? stop(chosen, former, situation, `beside ${chosen.name}, which takes their place`);
  if (stopping) return stopping;
  // Once it was started, all others had ended.
  if (chosen.statefulSet || chosen.pod) return undefined;
  const { [chosen.name]: _, ...lastSeenOn } = recovery.lastSeenOn;
  const set = former.find(({ statefulSet }) => statefulSet);
  const besides = set && `StatefulSet ${set.name} is being deleted`;
  return awaitEnds(former, { ...recovery, lastSeenOn }, situation, besides) ?? dropPeers(chosen, former, gaveUp);
}

function dropPeers(chosen: Slot, former: readonly Slot[], gaveUp: readonly string[]): Decision | undefined {
  const peers = former.flatMap(({ name, peer }) => (peer?.current && !peer.leaving ? [{ name, uid: peer.uid }] : []));
  if (peers.length === 0 || !chosen.volume) return undefined;
  const names = peers.map(({ name }) => name).join(', ');
  return act(
    { kind: 'drop-peers', volume: { name: chosen.name, uid: chosen.volume.uid }, peers },
    'DroppingPeers',
    `${names}: ended, with etcd cluster ${gaveUp.at(-1)}; their volumes are kept, and ${chosen.name} starts`,
  );
}
