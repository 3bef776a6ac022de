import { compareVersions, formatVersion, isHigher, isSameMinor, parseVersion } from '../../../manifests/api/version.ts';
import { mustNotRun } from '../../../manifests/api/version-defects.ts';
import { downFor, graceOf } from '../know/health/grace.ts';
import { isDownOnItsConfiguration, isWithoutImage, serves } from '../know/health/health.ts';
import { recordOf } from '../know/life.ts';
import { quorumOf } from '../know/membership/quorum.ts';
import type { Slot } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';
import type { Inputs } from '../know/spec/inputs.ts';
import { hasBegun, isKept } from '../know/versions/begun.ts';
import { soakOf } from '../know/versions/soak.ts';
import { awaitBackup } from './await-backup.ts';
import { heldByFleet, waitToGoOn, waitToUpgrade } from './wait-for-window.ts';

/**
 * What a member is made from that is new, or is cured because it does not run: as the spec says, but for a version that
 * a backup, a window or the fleet's room holds, and for all that a stage of the fleet holds. Else the first member that
 * is lost would begin the upgrade (I12), or take a bad commit before its turn.
 */
export function startingInputs(situation: Situation): Inputs {
  const inputs = configurationBefore(situation) ?? situation.effective.inputs;
  const version = heldVersion(situation);
  return version === undefined ? inputs : { ...inputs, version, image: imageOf(version, situation) };
}

/**
 * The same for the replacement of a member: while a minor soaks, it starts on the one before, as long as another member
 * serves on that. Without one the cluster version rises, and it could not join (I6).
 */
export function replacingInputs(replaced: Slot, situation: Situation): Inputs {
  const inputs = startingInputs(situation);
  const kept = keptBack(situation).find((slot) => slot !== replaced && slot.endpoint.kind === 'known')?.peer?.inputs;
  return kept ? withVersionOf(kept, inputs) : inputs;
}

/**
 * Members that a soak keeps on the minor before. Once it is over, and what waits may go on, one that is down is given
 * the next one. One that fails on its version while no quorum answers is never kept: that ends an outage (I15).
 */
export function keptBack(situation: Situation): readonly Slot[] {
  const soak = soakOf(situation);
  if (!soak || (situation.at >= soak.until && !waitToGoOn(situation))) return [];
  const isOutage = situation.membership.kind === 'unknown';
  return soak.keepers.filter((slot) => !isOutage || !isDownOnItsConfiguration(slot));
}

/** Configured as the spec says, on the version that it has. */
export function withVersionOf({ version, image }: Inputs, inputs: Inputs): Inputs {
  return { ...inputs, version, image };
}

/**
 * What members that serve have, while a stage holds what the commit changed. Not where a member fails on what it has,
 * or no quorum answers: what the commit changed may be the cure (I15).
 */
function configurationBefore(situation: Situation): Inputs | undefined {
  const { life, membership, slots, effective } = situation;
  if (life.stage !== 'born' || membership.kind === 'unknown' || !heldByFleet(situation)) return undefined;
  if (slots.some(isDownOnItsConfiguration)) return undefined;
  const serving = slots.find((slot) => slot.peer?.current && serves(slot, situation));
  return serving?.peer && { ...serving.peer.inputs, storage: effective.inputs.storage };
}

/** The version that members keep meanwhile; `undefined`: the one of the spec may be given, or members have it. */
function heldVersion(situation: Situation): string | undefined {
  const { effective, slots, life } = situation;
  const wanted = effective.inputs.version;
  if (life.stage !== 'born' || hasBegun(wanted, slots)) return undefined;
  const present = presentVersion(situation);
  if (present === undefined || present === wanted) return undefined;
  if ((isHigher(present, wanted) && isKept(wanted, slots)) || !isHeld(situation)) return undefined;
  const kept = isUsable(present, situation) ? present : (newestOf(present, situation) ?? present);
  return kept === wanted ? undefined : kept;
}

function isHeld(situation: Situation): boolean {
  const { awaitedBackup: view } = situation;
  const awaiting = { before: 'upgrade', what: 'the upgrade' } as const;
  const isTooOld = view?.before === 'upgrade' && view.kind === 'known' && view.tooOld !== undefined;
  return isTooOld || awaitBackup(situation, awaiting) !== undefined || waitToUpgrade(situation) !== undefined;
}

/**
 * The lowest version that a serving voter runs; where none serves, the lowest that ran. Unless members fail on what
 * they have, and no quorum answers: what ends an outage waits for nothing (I15).
 */
function presentVersion({ slots, membership, effective }: Situation): string | undefined {
  const sealed = slots.filter((slot) => recordOf(slot)?.state === 'sealed');
  const served = sealed.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? endpoint.status.version : []));
  const ran = sealed.flatMap((slot) => recordOf(slot)?.version ?? []);
  if (membership.kind === 'known' || served.length >= quorumOf(sealed.length)) return lowestOf(served) ?? lowestOf(ran);
  if (sealed.some(isDownOnItsConfiguration)) return undefined;
  // Where no member serves, nothing proves that a lower minor may still be started (I6).
  const wanted = parseVersion(effective.inputs.version);
  return ran.every((version) => isSameMinor(version, wanted)) ? lowestOf(ran) : undefined;
}

/** In its place: of the versions that are known to be there, the newest of its minor. */
function newestOf(present: string, situation: Situation): string | undefined {
  const given = situation.slots.flatMap(({ peer }) => (peer?.current ? peer.inputs.version : []));
  const known = [...given, situation.effective.inputs.version].filter((version) =>
    isSameMinor(version, parseVersion(present)),
  );
  return sorted(known.filter((version) => isUsable(version, situation))).at(-1);
}

function isUsable(version: string, situation: Situation): boolean {
  if (mustNotRun(version)) return false;
  const isMissing = (slot: Slot) => isWithoutImage(slot) && slot.peer?.inputs.version === version;
  return !situation.slots.some((slot) => isMissing(slot) && downFor(slot, situation) >= graceOf(situation).pod);
}

/** As a member has it, best one that serves; a digest of the spec names the version of the spec. */
function imageOf(version: string, { slots, effective }: Situation): Inputs['image'] {
  const had = slots.filter(({ peer }) => peer?.current && peer.inputs.version === version);
  const same = had.find(({ endpoint }) => endpoint.kind === 'known') ?? had[0];
  const { digest: _, ...image } = effective.inputs.image ?? {};
  return same?.peer ? same.peer.inputs.image : image;
}

function lowestOf(versions: readonly string[]): string | undefined {
  return sorted(versions)[0];
}

function sorted(versions: readonly string[]): readonly string[] {
  return versions.map(parseVersion).toSorted(compareVersions).map(formatVersion);
}
