import type { ListedMember } from '../../../interfaces/etcd.ts';
import { restoringIn } from '../../know/backups/restore.ts';
import { urlOf } from '../../know/health/health.ts';
import { recordOf } from '../../know/life.ts';
import type { Observation, RecoveryView, Slot } from '../../know/observation.ts';
import { type Effect, onSlot } from '../effect.ts';
import { recoveryOf } from '../host-recovery.ts';
import { rememberedList, rememberingTheList } from '../knowledge.ts';
import { bound } from './pods.ts';

/** The Job's pod comes up, and its member knows of no other any more; without its Job it goes. */
export const runRecovery: Effect = (observation) => {
  const chosen = chosenIn(observation);
  const view = recoveryOf(observation);
  const restoring = restoringIn(observation.slots) ?? (view.job?.begins ? chosen : undefined);
  if (restoring) return runRestore(observation, restoring);
  if (!chosen) return isEmpty(view) && observation.recovery ? withoutRecovery(observation) : observation;
  const { job, pods } = view;
  if (!job) {
    if (pods.length === 0 && observation.recovery) return observation;
    return { ...observation, recovery: { ...view, pods: [] } };
  }
  if (pods.length > 0 || job.failed) return observation;
  const pod = { name: `${job.name}-made`, uid: `${job.uid}-pod`, leaving: false, ready: true };
  return alone({ ...observation, recovery: { ...view, pods: [pod] } }, recordOf(chosen)?.memberId);
};

/** The Job comes to its end: its volume is bound by its pod. */
function runRestore(observation: Observation, { name }: Slot): Observation {
  const { job, ...view } = recoveryOf(observation);
  if (!observation.recovery) return { ...observation, recovery: view };
  if (!job || job.completed || job.failed) return observation;
  const ended = { ...observation, recovery: { ...view, job: { ...job, failed: true, completed: true as const } } };
  return onSlot(name, (slot) => (slot.volume ? { ...slot, volume: bound(slot.volume) } : slot))(ended);
}

/** Whose volume the cluster goes on from. */
function chosenIn({ slots }: Observation): Slot | undefined {
  return slots.find((slot) => ['recovering', 'recovered'].includes(recordOf(slot)?.state ?? ''));
}

function isEmpty({ job, pods }: Extract<RecoveryView, { kind: 'known' }>): boolean {
  return !job && pods.length === 0;
}

function withoutRecovery(observation: Observation): Observation {
  const { recovery: _, ...rest } = observation;
  return rest;
}

function alone(observation: Observation, memberId: string | undefined): Observation {
  const chosen = chosenIn(observation);
  const record = chosen && recordOf(chosen);
  const list = rememberedList(observation);
  const clusterId = list?.clusterId ?? record?.clusterId;
  const known =
    list?.members ?? lastIn(observation) ?? (chosen && memberId !== undefined ? [itself(chosen, memberId)] : []);
  const members = known.filter(({ id }) => id === memberId).map((member) => ({ ...member, isLearner: false }));
  if (clusterId === undefined || members.length === 0) return observation;
  return rememberingTheList(
    { ...observation, membership: { kind: 'unknown', cause: 'no member runs' } },
    { kind: 'known', clusterId, members },
  );
}

function lastIn({ membership }: Observation): readonly ListedMember[] | undefined {
  return membership.kind === 'unknown' ? membership.last : undefined;
}

/** Where no member tells the list. */
function itself(slot: Slot, id: string): ListedMember {
  return { id, name: slot.name, peerURLs: [urlOf(slot) ?? ''], clientURLs: [], isLearner: false };
}
