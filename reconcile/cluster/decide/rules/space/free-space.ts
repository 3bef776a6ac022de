import { kubectl } from '../../../../../manifests/render/kubectl.ts';
import { quotaBackendBytes } from '../../../../../manifests/render/quota.ts';
import { inheritedIn, namesOf } from '../../../know/adoption/inherited.ts';
import { act, type Decision, type Refused, refuse, wait } from '../../../know/decision.ts';
import type { Slot } from '../../../know/observation.ts';
import { outOfSpace } from '../../../know/outage.ts';
import type { Situation } from '../../../know/situation.ts';
import {
  contentOf,
  type Database,
  databasesOf,
  isCorrupt,
  isOutOfSpace,
  newestOf,
} from '../../../know/space/databases.ts';
import { isUnderWay, patience, wasAsked } from '../../../know/space/defragmented.ts';
import { besidesWhatIsLeft } from '../general/name-what-is-left.ts';
import { defragmentation } from './defragment.ts';

/** Content up to this share of the quota is below the limit after a defragmentation. */
const small = 0.85;
/** From this share of the quota on, free pages in a file are worth a defragmentation. */
const worthwhile = 0.05;
/** Between two compactions, in seconds: keys that expire one by one must not hold up every other rule. */
const betweenCompactions = 60;
/** Between attempts to defragment a member that freed nothing in two attempts, in seconds. */
const betweenAttempts = 600;

/**
 * etcd is out of space (NOSPACE): space is freed, and the alarm disarmed. If the databases have enough free pages, they
 * are defragmented, one member at a time, the leader last. If not, all history before the current revision is compacted
 * away first, as auto-compaction does, only at once; watchers that lag must restart. Current values are not touched.
 *
 * While a member is ill nothing is done: a defragmentation takes another one away for its time. Where the data
 * themselves fill the quota, the other rules go on, and `lackSpace` reports it last.
 */
export function freeSpace(situation: Situation): Decision | undefined {
  const { slots, membership, hasHistory } = situation;
  const isFull = isOutOfSpace(slots);
  const busy = slots.find((slot) => isUnderWay(slot, situation));
  if (busy) return awaiting(busy, isFull ? 'NoSpace' : 'Defragmenting');
  if (!isFull || isCorrupt(slots) || membership.kind === 'unknown') return undefined;
  const databases = databasesOf(situation);
  if (!databases) return undefined;

  const { clusterId } = membership;
  const over = databases.filter(({ size, quota }) => size >= limitOf(quota));
  if (over.length === 0) {
    const limits = databases.map(({ memberId, quota }) => ({ memberId, bytes: limitOf(quota) }));
    return act(
      { kind: 'disarm-alarm', clusterId, limits },
      'NoSpace',
      'every database has room again: the alarm is disarmed, and writes are accepted again',
    );
  }
  const voters = over.filter(({ isLearner }) => !isLearner);
  const content = contentOf(databases);
  if (fits(content, voters)) return nextOf(voters, situation);
  if (hasHistory === undefined) return wait('NoSpace', outOfSpace, { on: 'time', afterSeconds: 2 });
  if (hasHistory && !wasCompacted(situation)) {
    return act(
      { kind: 'compact', clusterId, revision: String(newestOf(databases)) },
      'NoSpace',
      `${outOfSpace}: all history before the current revision is compacted away, to free space`,
    );
  }
  const gaining = voters.filter(({ size, quota }) => size - content >= worthwhile * quota);
  return nextOf(gaining, situation);
}

/**
 * A database below nine tenths of its quota accepts writes again; nearer to it, etcd would soon raise the alarm again.
 */
function limitOf(quota: number): number {
  return Math.floor(quota * 0.9);
}

function fits(content: number, databases: readonly Database[]): boolean {
  return databases.every(({ quota }) => content <= small * quota);
}

/** Whether members say that defragmentations make enough room. One that does not may not count what was compacted. */
export function saysItFits(situation: Situation): boolean {
  const databases = databasesOf(situation) ?? [];
  return databases.length > 0 && fits(contentOf(databases), databases);
}

/** A member that was asked already is awaited; a member that frees nothing is left out. */
function nextOf(databases: readonly Database[], situation: Situation): Decision | undefined {
  const { at } = situation;
  const asked = databases.find(({ slot }) => wasAsked(slot, at, { within: patience, vain: 1 }));
  if (asked) return awaiting(asked.slot, 'NoSpace');
  const next = databases.find(({ slot }) => !gainsNothing(slot, at));
  if (!next) return undefined;
  return act(defragmentation(next, situation), 'NoSpace', `${outOfSpace}: ${next.slot.name} defragments its database`);
}

function gainsNothing(slot: Slot, at: Date): boolean {
  return wasAsked(slot, at, { within: betweenAttempts, vain: 2 });
}

/** Status is only a hint here: without it, one more compaction is made. */
function wasCompacted({ cluster, at }: Situation): boolean {
  const last = cluster.status?.history?.findLast(({ action, outcome }) => action === 'compact' && outcome === 'acted');
  return last !== undefined && at.getTime() - Date.parse(last.at) < betweenCompactions * 1000;
}

function awaiting({ name }: Slot, reason: 'NoSpace' | 'Defragmenting'): Decision {
  return wait(
    reason,
    `${reason === 'NoSpace' ? `${outOfSpace}: ` : ''}${name} was asked to defragment its database, and has not finished yet`,
    { on: 'change', of: 'pods' },
    { on: 'time', afterSeconds: 5 },
  );
}

/**
 * The data themselves fill the quota, repeating the steps frees nothing, and no member may have a larger quota
 * (`raise-quota`): everything else is left to a person.
 */
export function lackSpace(situation: Situation): Decision | undefined {
  if (!isOutOfSpace(situation.slots)) return undefined;
  return findOut(situation) ?? besidesWhatIsLeft(fullOfData(situation), situation);
}

function fullOfData(situation: Situation): Refused {
  const { slots, cluster, effective, at } = situation;
  const inherited = inheritedIn(situation);
  if (inherited.length > 0) {
    const names = namesOf(inherited);
    return refuse(
      'NoSpace',
      `${outOfSpace}: while ${names} have not left, etcd-ratchet frees no space and does not disarm the alarm`,
      `raise --quota-backend-bytes of ${names}, and spec.etcd.quotaBackendBytes to no less, or delete keys; then run: etcdctl compact, defrag and alarm disarm. Or let them leave: as approved, within a window of spec.maintenance`,
    );
  }
  const unshrunk = slots.find((slot) => gainsNothing(slot, at));
  if (unshrunk) {
    return refuse(
      'NoSpace',
      `${outOfSpace}: ${unshrunk.name} was defragmented and has not become smaller`,
      `see why: ${kubectl(unshrunk, `logs ${unshrunk.name}-0`)}; if the disk is full, raise spec.storage.size`,
    );
  }
  const quota = Math.min(
    ...(databasesOf(situation) ?? []).map((one) => one.quota),
    quotaBackendBytes(effective.inputs),
  );
  return refuse(
    'NoSpace',
    `${outOfSpace}: the data of ${cluster.metadata.name} fill its quota of ${quota / 2 ** 20}Mi`,
    'raise spec.etcd.quotaBackendBytes, or spec.storage.size where the quota follows the volume, or delete keys',
  );
}

/**
 * Pages that a compaction freed count only after the next write, and no write is accepted: files may report to be full
 * and are not. A file that was rewritten since tells the truth, for all members: so one of them is rewritten, once for
 * each compacted revision.
 */
function findOut(situation: Situation): Decision | undefined {
  const voters = databasesOf(situation)?.filter(({ isLearner }) => !isLearner) ?? [];
  if (voters.length === 0 || situation.hasHistory !== false) return undefined;
  const newest = newestOf(voters);
  const isKnown = voters.some(({ slot }) => slot.peer?.defragmented?.bareAt === newest);
  return isKnown ? undefined : nextOf(voters, situation);
}
