import { quotaBackendBytes } from '../../../manifests/build/quota.ts';
import { contentOf, type Database, databasesOf, isCorrupt, isOutOfSpace, newestOf } from '../databases.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, refuse, wait } from '../decision.ts';
import { isUnderWay, patience, wasAsked } from '../defragmented.ts';
import { leads } from '../leadership.ts';
import type { Slot } from '../observation.ts';
import { defragmentation } from './defragment.ts';

/** Content that takes at most this share of the quota is below the limit when it has been defragmented. */
const small = 0.85;
/** From this share of the quota on, what is free inside a file is worth a defragmentation. */
const worthwhile = 0.05;
/** Between two compactions, in seconds: keys that expire one by one must not keep everything else from its turn. */
const betweenCompactions = 60;
/** Between attempts to defragment a member that gained nothing by two of them, in seconds. */
const betweenAttempts = 600;

const out = 'etcd is out of space and takes no writes';

/**
 * etcd is out of space (NOSPACE): room is made, and the alarm taken back. If the databases have enough free pages, they are
 * defragmented, one member at a time, the leader last. If not, the history of all keys is forgotten first, up to the present:
 * what auto-compaction does, only at once; watchers that lag begin anew. Nothing that a key says now is touched.
 *
 * While a member is ill nothing is done: a defragmentation takes another one away for its time. Where the data themselves fill the
 * quota, other rules go on, and `lackSpace` says so in the end.
 */
export function freeSpace(situation: Situation): Decision | undefined {
  const { slots, membership, hasHistory } = situation;
  const outOfSpace = isOutOfSpace(slots);
  const busy = slots.find((slot) => isUnderWay(slot, situation));
  if (busy) return awaiting(busy, outOfSpace ? 'NoSpace' : 'Defragmenting');
  if (!outOfSpace || isCorrupt(slots) || membership.kind === 'unknown') return undefined;
  const databases = databasesOf(situation);
  if (!databases) return undefined;

  const { clusterId } = membership;
  const over = databases.filter(({ size, quota }) => size >= limitOf(quota));
  if (over.length === 0) {
    const limits = databases.map(({ memberId, quota }) => ({ memberId, bytes: limitOf(quota) }));
    return act(
      { kind: 'disarm-alarm', clusterId, limits },
      'NoSpace',
      'every database has room again: the alarm is taken back, and writes are let in',
    );
  }
  const voters = over.filter(({ isLearner }) => !isLearner);
  const content = contentOf(databases);
  if (voters.every(({ quota }) => content <= small * quota)) return nextOf(voters, situation);
  if (hasHistory === undefined) return wait('NoSpace', out, { on: 'time', afterSeconds: 2 });
  if (hasHistory && !wasCompacted(situation)) {
    return act(
      { kind: 'compact', clusterId, revision: String(newestOf(databases)) },
      'NoSpace',
      `${out}: the history of its keys is forgotten, to make room`,
    );
  }
  const gaining = voters.filter(({ size, quota }) => size - content >= worthwhile * quota);
  return nextOf(gaining, situation);
}

/** A database below nine tenths of its quota lets writes in again; nearer to it, etcd would soon raise the alarm again. */
function limitOf(quota: number): number {
  return Math.floor(quota * 0.9);
}

/** One that was asked already is waited for; one that gains nothing is left. */
function nextOf(databases: readonly Database[], situation: Situation): Decision | undefined {
  const { at } = situation;
  const asked = databases.find(({ slot }) => wasAsked(slot, at, { within: patience, vain: 1 }));
  if (asked) return awaiting(asked.slot, 'NoSpace');
  const next = databases.find(({ slot }) => !gainsNothing(slot, at));
  if (!next) return undefined;
  return act(defragmentation(next, situation), 'NoSpace', `${out}: ${next.slot.name} gives back what it does not use`);
}

function gainsNothing(slot: Slot, at: Date): boolean {
  return wasAsked(slot, at, { within: betweenAttempts, vain: 2 });
}

/** What was told before is a hint here, and no more: without it, one compaction more is made. */
function wasCompacted({ cluster, at }: Situation): boolean {
  const last = cluster.status?.history?.findLast(({ action, outcome }) => action === 'compact' && outcome === 'acted');
  return last !== undefined && at.getTime() - Date.parse(last.at) < betweenCompactions * 1000;
}

function awaiting({ name }: Slot, reason: string): Decision {
  return wait(
    reason,
    `${name} was asked to give back what its database does not use, and is waited for`,
    { on: 'change', of: 'pods' },
    { on: 'time', afterSeconds: 5 },
  );
}

/**
 * The data themselves fill the quota, and nothing is gained by doing the same again. A larger volume makes a larger quota where that
 * follows the volume, and members are given it; anything else is a person's.
 */
export function lackSpace(situation: Situation): Decision | undefined {
  const { slots, cluster, effective, at } = situation;
  if (!isOutOfSpace(slots)) return undefined;
  const wanted = quotaBackendBytes(effective.inputs);
  const [next] = slots
    .filter(({ peer, pod }) => peer?.current && pod?.quota !== undefined && pod.quota < wanted)
    .toSorted((a, b) => Number(leads(a)) - Number(leads(b)));
  if (next?.peer) {
    return act(
      { kind: 'change-template', peer: { name: next.name, uid: next.peer.uid }, inputs: effective.inputs },
      'NoSpace',
      `${out}: ${next.name} is given the quota that its volume can bear now`,
    );
  }
  const truth = findOut(situation);
  if (truth) return truth;
  const unshrunk = slots.find((slot) => gainsNothing(slot, at));
  if (unshrunk) {
    return refuse(
      'NoSpace',
      `${out}: ${unshrunk.name} was defragmented and has not become smaller`,
      `kubectl logs ${unshrunk.name}-0 says why; a disk that is full is cured by a larger spec.storage.size`,
    );
  }
  return refuse(
    'NoSpace',
    `${out}: the data of ${cluster.metadata.name} fill its quota of ${wanted / 2 ** 20}Mi`,
    'raise spec.etcd.quotaBackendBytes, or spec.storage.size where the quota follows the volume, or delete keys',
  );
}

/**
 * What a compaction freed counts with the next write only, and there is none: by their own words, files may be full that are not. Who
 * has been rewritten since then tells the truth, for all: so one of them is, once for each revision that nothing is left before.
 */
function findOut(situation: Situation): Decision | undefined {
  const voters = databasesOf(situation)?.filter(({ isLearner }) => !isLearner) ?? [];
  if (voters.length === 0 || situation.hasHistory !== false) return undefined;
  const newest = newestOf(voters);
  const isKnown = voters.some(({ slot }) => slot.peer?.defragmented?.bareAt === newest);
  return isKnown ? undefined : nextOf(voters, situation);
}
