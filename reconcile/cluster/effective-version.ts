import {
  compareVersions,
  formatVersion,
  isSupportedVersion,
  isVersion,
  parseVersion,
  supportedVersions,
  type Version,
} from '../../manifests/api/version.ts';
import { unknownFlags } from '../../manifests/build/etcd-flags.ts';
import { inputsHash } from '../../manifests/build/inputs-hash.ts';
import type { Refusal } from './effective.ts';
import { recordOf } from './life.ts';
import type { Observation, Slot } from './observation.ts';

/** Which version members should run now, and what has to come before the one that the spec asks for. */
export interface VersionPlan {
  readonly value: string;
  readonly refusal?: Refusal;
  readonly pending?: Pending;
}

export type Pending =
  /** Not every member runs one version, is noted on it, and answers; or the cluster version has not arrived there. */
  | { readonly kind: 'settling'; readonly to: string }
  /** Nobody has written down from which index of raft's log on all entries are of this minor. */
  | { readonly kind: 'unnoted'; readonly to: string }
  /** Members must have taken a snapshot under this minor: they have when they applied this index. */
  | { readonly kind: 'snapshots'; readonly to: string; readonly index: bigint };

type Looked = Pick<Observation, 'cluster' | 'slots' | 'clusterVersion'> & Partial<Pick<Observation, 'membership'>>;

/** Of the minor before: etcd's own upgrade notes ask for these patches, of every member, before the next minor is started. */
const patchesBefore: Readonly<Record<string, string>> = { '3.6': '3.5.26', '3.7': '3.6.11' };

/**
 * 3.7 cannot read raft entries that 3.5 wrote, and replays all since the last snapshot: it panics on those of a quiet cluster
 * that passed through 3.6 without taking one.
 */
const needsSnapshots: ReadonlySet<string> = new Set(['3.7']);

/** `--snapshot-count` where the spec does not say: etcd's own, from 3.6 on. */
const usualSnapshotCount = 10_000;
/** Entries that a leader keeps from before its last snapshot, for those who lag: nobody who joins is to be sent an old one. */
const usualCatchUp = 5_000;
/** Entries beyond it until the snapshot is certainly on the disk. */
const margin = 200n;

/**
 * Guards I6. A minor is entered only from the one before, and only when that is settled; it is left backwards only as long as
 * some member has never run it, because then the cluster version cannot have moved. Patches of one minor read each other's
 * data, so they may go both ways: reverting a commit undoes it.
 *
 * Once the first member was told to run the next minor, the others follow whatever else happens: a mixed cluster goes on to
 * the target, or back to where it came from, and stays nowhere in between.
 */
export function judgeVersion(looked: Looked): VersionPlan {
  const { cluster, slots } = looked;
  const { spec } = cluster;
  const highest = max(slots.flatMap(mayHaveRun));
  if (!isSupportedVersion(spec.version)) {
    const value = highest ?? presentOf(slots) ?? { major: 3, minor: 6, patch: 0 };
    return { value: formatVersion(value), refusal: unsupported(spec.version) };
  }
  const wanted = parseVersion(spec.version);
  const plan = highest ? planFrom(highest, wanted, looked) : { value: formatVersion(wanted) };
  const flags = unknownFlags(Object.keys(spec.etcd?.extraArgs ?? {}), wanted);
  return plan.refusal || flags.length === 0 ? plan : withoutFlags(plan, wanted, highest, flags);
}

function planFrom(highest: Version, wanted: Version, looked: Looked): VersionPlan {
  const base = formatVersion(highest);
  const value = formatVersion(wanted);
  const step = minorOf(wanted) - minorOf(highest);
  if (step === 0) return { value };
  if (step < 0) {
    if (minorOf(wanted) < lowestMinorFor(looked)) return { value: base, refusal: downgrade(base, wanted) };
    const minimum = minimumBefore(highest);
    const isOld = minimum !== undefined && compareVersions(wanted, minimum) < 0;
    return isOld ? { value: base, refusal: patchTooOld(wanted, highest, minimum) } : { value };
  }
  // Begun: what must hold before was seen to then.
  if (looked.slots.some(({ peer }) => peer?.current && isSameMinor(peer.inputs.version, wanted))) return { value };
  if (step > 1) return { value: base, refusal: skipped(highest, wanted) };
  const minimum = minimumBefore(wanted);
  if (minimum && compareVersions(highest, minimum) < 0) {
    return { value: base, refusal: patchTooOld(highest, wanted, minimum) };
  }
  const pending = whatComesFirst(highest, wanted, looked);
  return pending ? { value: base, pending } : { value };
}

function whatComesFirst(highest: Version, wanted: Version, { slots, clusterVersion }: Looked): Pending | undefined {
  const to = formatVersion(wanted);
  const ours = slots.filter(isOurs);
  if (!isSettled(ours, highest, clusterVersion)) return { kind: 'settling', to };
  if (!needsSnapshots.has(minorText(wanted))) return undefined;
  const since = sinceOf(ours, highest);
  if (since === undefined) return { kind: 'unnoted', to };
  // Born on it.
  if (since === 0n) return undefined;
  const index = since + BigInt(Math.max(...ours.map(entriesKept))) + margin;
  const isThere = ours.every(({ endpoint }) => endpoint.kind === 'known' && endpoint.status.raftAppliedIndex >= index);
  return isThere ? undefined : { kind: 'snapshots', to, index };
}

/** So many entries after one was applied, no member has it in its log any more. */
function entriesKept({ peer }: Slot): number {
  const { snapshotCount = usualSnapshotCount, extraArgs = {} } = peer?.inputs.etcd ?? {};
  const given = extraArgs['snapshot-catchup-entries'] ?? extraArgs['experimental-snapshot-catchup-entries'];
  return snapshotCount + Math.max(usualCatchUp, Number(given) || 0);
}

function isSettled(ours: readonly Slot[], version: Version, clusterVersion: string | undefined): boolean {
  const text = formatVersion(version);
  return (
    clusterVersion !== undefined &&
    isSameMinor(clusterVersion, version) &&
    ours.every((slot) => slot.peer?.inputs.version === text && isNotedAs(slot, text))
  );
}

/** Runs it, and its volume says so. */
function isNotedAs(slot: Slot, version: string): boolean {
  const record = recordOf(slot);
  const { endpoint } = slot;
  return (
    endpoint.kind === 'known' &&
    endpoint.status.version === version &&
    record?.version === version &&
    record.nextVersion === undefined
  );
}

/** Raft's indices are the cluster's, so whichever volume remembers the earliest is right for all. */
function sinceOf(ours: readonly Slot[], version: Version): bigint | undefined {
  const known = ours.flatMap((slot) => {
    const since = recordOf(slot)?.minorSince;
    return since?.minor === minorText(version) ? [BigInt(since.index)] : [];
  });
  return known.toSorted((a, b) => (a < b ? -1 : 1))[0];
}

/**
 * The lowest minor that members may go back to: that of one who never ran a higher one. etcd moves its cluster version when all
 * members run the next minor at once, so it has not, and the others' data can still be read (seen on 3.5 and 3.6, with two of
 * three members upgraded).
 */
function lowestMinorFor({ cluster, slots, membership, clusterVersion }: Looked): number {
  const listed = membership?.kind === 'known' ? new Set(membership.members.map(({ id }) => id)) : undefined;
  const witnesses = slots.filter((slot) => {
    const record = recordOf(slot);
    return record?.state === 'sealed' && (listed?.has(record.memberId ?? '') ?? true);
  });
  const ran = witnesses.flatMap((slot) => max(testimonyOf(slot)) ?? []);
  const lowest = ran.toSorted(compareVersions)[0] ?? max(slots.flatMap(mayHaveRun));
  // What is remembered in status only ever refuses.
  const moved = [clusterVersion, cluster.status?.clusterVersion].filter(isVersion).map(parseVersion);
  return Math.max(...[...(lowest ? [lowest] : []), ...moved].map(minorOf));
}

/** Who runs a minor now has not let the cluster version move beyond it, whatever its template says by now. */
function testimonyOf(slot: Slot): readonly Version[] {
  const record = recordOf(slot);
  if (slot.endpoint.kind === 'unknown' || !record) return mayHaveRun(slot);
  return [slot.endpoint.status.version, record.version].filter(isVersion).map(parseVersion);
}

/** Whether this version may be started where a higher minor ran. */
export function mayGoBackTo(version: string, looked: Looked): boolean {
  return minorOf(parseVersion(version)) >= lowestMinorFor(looked);
}

/** What this member's data may have been opened by. What certainly never ran is not among them. */
function mayHaveRun(slot: Slot): readonly Version[] {
  const { peer, pod, endpoint } = slot;
  const record = recordOf(slot);
  if (record?.state === 'released' || record?.state === 'superseded') return [];
  const said: string[] = [];
  if (record && record.state !== 'bootstrapping') said.push(record.version);
  if (record?.nextVersion !== undefined && nextMayHaveRun(slot, record.nextVersion)) said.push(record.nextVersion);
  if (endpoint.kind === 'known') said.push(endpoint.status.version);
  if (pod?.container.everStarted && peer) said.push(pod.version ?? peer.inputs.version);
  // A re-created resource has no pods to ask: what was recorded is what may have run.
  if (record && !peer) said.push(record.version);
  return said.filter(isVersion).map(parseVersion);
}

/** Not when its template never said so, or says so no more; nor when the pod that was made for it never got to start. */
function nextMayHaveRun({ peer, statefulSet, pod }: Slot, next: string): boolean {
  if (!peer?.current) return true;
  if (pod?.version === next) return pod.container.everStarted;
  const isBehind = statefulSet !== undefined && statefulSet.inputsHash !== inputsHash(peer.inputs);
  return peer.inputs.version === next || isBehind;
}

function isOurs(slot: Slot): boolean {
  const state = recordOf(slot)?.state;
  return slot.peer?.current === true && state !== 'released' && state !== 'superseded';
}

function presentOf(slots: readonly Slot[]): Version | undefined {
  return max(
    slots.flatMap((slot) => [recordOf(slot)?.version, slot.peer?.inputs.version].filter(isVersion).map(parseVersion)),
  );
}

function max(versions: readonly Version[]): Version | undefined {
  return versions.toSorted(compareVersions).at(-1);
}

function minimumBefore(version: Version): Version | undefined {
  const patch = patchesBefore[minorText(version)];
  return patch === undefined ? undefined : parseVersion(patch);
}

function minorOf({ major, minor }: Version): number {
  return major * 10_000 + minor;
}

/** Like `3.6`. */
export function minorText({ major, minor }: Version): string {
  return `${major}.${minor}`;
}

export function isSameMinor(version: string, other: Version): boolean {
  return minorOf(parseVersion(version)) === minorOf(other);
}

const field = 'spec.version';

function unsupported(version: string): Refusal {
  return {
    reason: 'VersionNotSupported',
    message: `spec.version is ${JSON.stringify(version.slice(0, 40))}, which is none that etcd-ratchet knows how to run`,
    cure: `set spec.version to a version like 3.6.16; ${supportedVersions}`,
    field,
  };
}

function downgrade(runs: string, wanted: Version): Refusal {
  return {
    reason: 'DowngradeRefused',
    message: `etcd ${runs} has run here, and its data must not be opened by ${formatVersion(wanted)}`,
    cure: `set spec.version to ${runs}, or restore a snapshot into a new cluster`,
    field,
  };
}

function skipped(runs: Version, wanted: Version): Refusal {
  const next = `${runs.major}.${runs.minor + 1}`;
  return {
    reason: 'MinorSkipped',
    message: `the cluster runs etcd ${formatVersion(runs)}, and goes to ${formatVersion(wanted)} by way of ${next} only`,
    cure: `set spec.version to a ${next} first, and to ${formatVersion(wanted)} when every member runs that`,
    field,
  };
}

function patchTooOld(old: Version, other: Version, minimum: Version): Refusal {
  const first = formatVersion(minimum);
  return {
    reason: 'PatchTooOld',
    message: `members of etcd ${formatVersion(old)} do not go together with ${minorText(other)}: etcd asks for ${first} or a later ${minorText(minimum)}`,
    cure: `set spec.version to ${first} or a later ${minorText(minimum)} first`,
    field,
  };
}

/** The next minor is not begun; whoever runs it already goes on without them. */
function withoutFlags(
  { value }: VersionPlan,
  wanted: Version,
  highest: Version | undefined,
  flags: readonly string[],
): VersionPlan {
  const entered = highest === undefined || minorOf(highest) === minorOf(wanted);
  return {
    value: entered ? value : formatVersion(highest),
    refusal: {
      reason: 'FlagNotInVersion',
      message: `etcd ${formatVersion(wanted)} does not know ${flags.map((flag) => `--${flag}`).join(', ')}`,
      cure: `take ${flags.join(', ')} out of spec.etcd.extraArgs, or name what replaced it`,
      field: 'spec.etcd.extraArgs',
    },
  };
}
