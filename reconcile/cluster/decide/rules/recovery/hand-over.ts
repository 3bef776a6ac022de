import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { act, type Decision, refuse, wait } from '../../../know/decision.ts';
import { hasDeparted } from '../../../know/life.ts';
import { openFences } from '../../../know/node-fence.ts';
import type { Slot } from '../../../know/observation.ts';
import type { Situation } from '../../../know/situation.ts';
import { podThatStays } from '../../../know/staying.ts';
import { mark, stop } from './recover-quorum.ts';

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
  return fence({ ...recovery, lastSeenOn }, former, situation) ?? dropPeers(chosen, former, gaveUp);
}

function fence(
  recovery: NonNullable<VolumeRecord['recovery']>,
  former: readonly Slot[],
  situation: Situation,
): Decision | undefined {
  const open = openFences(former, recovery, situation.recovery);
  const stuck = open.find(({ cure }) => cure !== undefined);
  if (stuck?.cure !== undefined) return refuse('MemberNotFenced', stuck.message, stuck.cure);
  const set = former.find(({ statefulSet }) => statefulSet);
  const message = open[0]?.message ?? (set && `StatefulSet ${set.name} is being deleted`);
  if (message === undefined) return undefined;
  return (
    podThatStays(former, situation) ??
    wait('FencingMembers', message, { on: 'change', of: 'pods' }, { on: 'time', afterSeconds: 2 })
  );
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
