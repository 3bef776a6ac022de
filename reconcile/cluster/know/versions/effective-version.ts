import {
  compareVersions,
  formatVersion,
  highestOf,
  isSameMinor,
  isSupportedVersion,
  isVersion,
  minorOf,
  minorText,
  parseVersion,
  type Version,
} from '../../../../manifests/api/version.ts';
import { mustNotRun } from '../../../../manifests/api/version-defects.ts';
import { unknownFlags, unknownGates } from '../../../../manifests/render/etcd-flags.ts';
import { recordOf } from '../life.ts';
import type { Slot } from '../observation.ts';
import type { Refusal } from '../spec/refusal.ts';
import { defective, downgrade, flagsUnknown, patchTooOld, skipped, unsupported } from './version-refusals.ts';
import { type Looked, lowestMinorFor, mayHaveRun } from './versions-run.ts';

/** Which version members should run now, and what must precede the version that the spec asks for. */
export interface VersionPlan {
  readonly value: string;
  readonly refusal?: Refusal;
  readonly pending?: Pending;
}

export type Pending =
  /** Not every member runs one version, has recorded it, and answers; or the cluster version has not reached it. */
  | { readonly kind: 'settling'; readonly to: string }
  /** No volume records from which index of raft's log on all entries are of this minor. */
  | { readonly kind: 'unnoted'; readonly to: string }
  /** Members must have taken a snapshot under this minor: they have when they applied this index. */
  | { readonly kind: 'snapshots'; readonly to: string; readonly index: bigint };

/** Of the minor before: etcd's upgrade notes require these patches of every member before the next minor starts. */
const patchesBefore: Readonly<Record<string, string>> = { '3.6': '3.5.26', '3.7': '3.6.11' };

/**
 * 3.7 cannot read raft entries that 3.5 wrote, and replays all since the last snapshot: it panics on those of a quiet
 * cluster that passed through 3.6 without taking one.
 */
const needsSnapshots: ReadonlySet<string> = new Set(['3.7']);

/** `--snapshot-count` where the spec does not say: etcd's own, from 3.6 on. */
const usualSnapshotCount = 10_000;
/** Entries that a leader keeps from before its last snapshot, for members that lag. */
const usualCatchUp = 5_000;
/** Entries beyond it until the snapshot is certainly on the disk. */
const margin = 200n;

/**
 * Guards I6. A minor is entered only from the one before, and only when that is settled; it is left backwards only as
 * long as some member has never run it, because then the cluster version cannot have risen. Patches of one minor read
 * each other's data, so they may change both ways: reverting a commit undoes it.
 *
 * Once the first member was told to run the next minor, the others follow whatever else happens: a mixed cluster goes
 * on to the target, or back to where it came from, and never stays in between.
 */
export function judgeVersion(looked: Looked): VersionPlan {
  const { cluster, slots } = looked;
  const { spec } = cluster;
  const highest = highestOf(slots.flatMap(mayHaveRun));
  if (!isSupportedVersion(spec.version)) {
    const value = highest ?? presentOf(slots) ?? { major: 3, minor: 6, patch: 0 };
    return { value: formatVersion(value), refusal: unsupported(spec.version) };
  }
  const wanted = parseVersion(spec.version);
  const plan = highest ? planFrom(highest, wanted, looked) : { value: formatVersion(wanted) };
  // Which minor may be next is the first question: the patches that a defect names are of the same minor.
  if (plan.refusal) return plan;
  const defect = isThere(slots, wanted) ? undefined : mustNotRun(spec.version);
  if (defect) {
    const value = highest ?? presentOf(slots) ?? wanted;
    return { value: formatVersion(value), refusal: defective(formatVersion(wanted), defect) };
  }
  const { extraArgs = {}, featureGates = {} } = spec.etcd ?? {};
  const gates = unknownGates(Object.keys(featureGates), wanted).map((gate) => `feature-gates=${gate}`);
  const flags = [...unknownFlags(Object.keys(extraArgs), wanted), ...gates];
  return flags.length === 0 ? plan : withoutFlags(plan, wanted, highest, flags);
}

/** A member has it already, or was told to: nothing is gained when its cluster is stopped there. */
function isThere(slots: readonly Slot[], wanted: Version): boolean {
  return [...toldTo(slots), ...slots.flatMap(mayHaveRun)].some((version) => compareVersions(version, wanted) === 0);
}

function toldTo(slots: readonly Slot[]): readonly Version[] {
  return slots.flatMap(({ peer }) => (peer?.current ? [parseVersion(peer.inputs.version)] : []));
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
  // Begun: the preconditions were met then.
  if (looked.slots.some(({ peer }) => peer?.current && isSameMinor(peer.inputs.version, wanted))) return { value };
  if (step > 1) return goingOn(highest, wanted, looked) ?? { value: base, refusal: skipped(highest, wanted) };
  const minimum = minimumBefore(wanted);
  if (minimum && compareVersions(highest, minimum) < 0) {
    return { value: base, refusal: patchTooOld(highest, wanted, minimum) };
  }
  const pending = whatComesFirst(highest, wanted, looked);
  return pending ? { value: base, pending } : { value };
}

/**
 * A member was told the minor between, and may start on it at any moment: to take it back, only to come again, would
 * race with that.
 */
function goingOn(highest: Version, wanted: Version, { slots }: Looked): VersionPlan | undefined {
  const between = toldTo(slots).filter((one) => minorOf(one) > minorOf(highest) && minorOf(one) < minorOf(wanted));
  const begun = highestOf(between);
  return begun && { value: formatVersion(begun), pending: { kind: 'settling', to: formatVersion(wanted) } };
}

function whatComesFirst(highest: Version, wanted: Version, { slots, clusterVersion }: Looked): Pending | undefined {
  const to = formatVersion(wanted);
  const ours = slots.filter(isOurs);
  if (!isSettled(ours, highest, clusterVersion)) return { kind: 'settling', to };
  if (!needsSnapshots.has(minorText(wanted))) return undefined;
  const since = sinceOf(ours, highest);
  if (since === undefined) return { kind: 'unnoted', to };
  // Created on it.
  if (since === 0n) return undefined;
  const index = since + BigInt(Math.max(...ours.map(entriesKept))) + margin;
  const isThere = ours.every(({ endpoint }) => endpoint.kind === 'known' && endpoint.status.raftAppliedIndex >= index);
  return isThere ? undefined : { kind: 'snapshots', to, index };
}

/** After so many further entries no member has an applied entry in its log any more. */
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

/** Runs it, and its volume records that. */
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

/** Raft's indices are the cluster's, so the earliest recorded one is right for all. */
function sinceOf(ours: readonly Slot[], version: Version): bigint | undefined {
  const known = ours.flatMap((slot) => {
    const since = recordOf(slot)?.minorSince;
    return since?.minor === minorText(version) ? [BigInt(since.index)] : [];
  });
  return known.toSorted((a, b) => (a < b ? -1 : 1))[0];
}

function isOurs(slot: Slot): boolean {
  const state = recordOf(slot)?.state;
  return slot.peer?.current === true && state !== 'released' && state !== 'superseded';
}

function presentOf(slots: readonly Slot[]): Version | undefined {
  return highestOf(
    slots.flatMap((slot) => [recordOf(slot)?.version, slot.peer?.inputs.version].filter(isVersion).map(parseVersion)),
  );
}

function minimumBefore(version: Version): Version | undefined {
  const patch = patchesBefore[minorText(version)];
  return patch === undefined ? undefined : parseVersion(patch);
}

/** The next minor is not begun; members that run it already go on without these flags. */
function withoutFlags(
  { value }: VersionPlan,
  wanted: Version,
  highest: Version | undefined,
  flags: readonly string[],
): VersionPlan {
  const entered = highest === undefined || minorOf(highest) === minorOf(wanted);
  return {
    value: entered ? value : formatVersion(highest),
    refusal: flagsUnknown(wanted, flags),
  };
}
