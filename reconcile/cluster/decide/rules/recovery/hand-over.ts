import { kubectl } from '../../../../../manifests/render/kubectl.ts';
import { annotations } from '../../../../../manifests/render/names.ts';
import { mayTakeOver, type Recovery, type VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { act, type Decision, refuse } from '../../../know/decision.ts';
import { hasDeparted } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import { openFences } from '../../../know/pods/node-fence.ts';
import type { Situation } from '../../../know/situation.ts';
import { awaitEnds, mark, stop } from './recover-quorum.ts';

/**
 * A rollback whose data are restored, and served by an etcd of the trial, and whose member has not started yet: the
 * cluster that is given up ends before that. Its volumes are marked, its members stop, each is seen ended, and its
 * peers go; the volumes are kept.
 *
 * Guards I11: never two clusters under one name. From here on it is finished, whatever the approval says by now.
 */
export function handOver(chosen: Slot, record: VolumeRecord, situation: Situation): Decision | undefined {
  const { gaveUp, recovery } = record;
  if (!gaveUp) return undefined;
  if (!mayTakeOver(record) && !chosen.statefulSet && !chosen.pod) return neverTried(chosen.name, situation);
  // Also members whose volumes are gone. No other member has been added yet, and the chosen one has its volume.
  const former = situation.slots.filter((slot) => hasDeparted(slot) || !slot.volume);
  const { [chosen.name]: _, ...lastSeenOn } = recovery?.lastSeenOn ?? {};
  const held = runningElsewhere(former, lastSeenOn, situation);
  if (held) return held;
  const stopping = mark(situation) ?? stop(chosen, former, situation, `beside ${chosen.name}, which takes their place`);
  if (stopping) return stopping;
  // Once it was started, all others had ended.
  if (chosen.statefulSet || chosen.pod) return undefined;
  const set = former.find(({ statefulSet }) => statefulSet);
  const besides = set && `StatefulSet ${set.name} is being deleted`;
  return awaitEnds(former, { lastSeenOn }, situation, besides) ?? dropPeers(chosen, former, gaveUp);
}

/** A pod that left its node by force may run there still. While the others serve, they are not stopped for that. */
function runningElsewhere(
  former: readonly Slot[],
  lastSeenOn: Recovery['lastSeenOn'],
  { recovery }: Situation,
): Decision | undefined {
  if (!former.some(({ statefulSet }) => statefulSet && !statefulSet.leaving)) return undefined;
  const others = Object.entries(lastSeenOn).map(([name, nodes]): [string, readonly string[]] => {
    const present = former.find((slot) => slot.name === name)?.pod?.node;
    return [name, nodes.filter((node) => node !== present)];
  });
  const [open] = openFences([], { lastSeenOn: Object.fromEntries(others) }, recovery);
  return (
    open && refuse('MemberNotFenced', `${open.message}; no member is stopped before that is known`, open.cure ?? '')
  );
}

/**
 * As where another hand took the mark away, or an earlier build made none: what is there now is not known to be what
 * was tried. Where all others have ended already, to wait protects nothing: a person may let it take their place.
 */
function neverTried(name: string, { cluster, slots }: Situation): Decision {
  const { namespace } = cluster.metadata;
  const haveEnded = !slots.some(({ statefulSet, pod }) => statefulSet || pod);
  const anew = `let only ${name} go, and the rollback begins anew, as approved: ${kubectl({ namespace }, `delete pvc ${name}`)}`;
  const goesOn = kubectl({ namespace }, `annotate pvc ${name} ${annotations.trial}=waived`);
  return refuse(
    'RollbackTrialFailed',
    `PersistentVolumeClaim ${name} does not say that an etcd has served what was restored to it: ${haveEnded ? 'it does not start, and the members before it have ended' : 'no member ends for it'}`,
    haveEnded ? `let it go on without a trial: ${goesOn}; or ${anew}` : anew,
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
