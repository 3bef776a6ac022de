import { reservedBecause } from '../../../../manifests/api/reserved-flags.ts';
import { formatVersion, minorText, supportedVersions, type Version } from '../../../../manifests/api/version.ts';
import type { mustNotRun } from '../../../../manifests/api/version-defects.ts';
import type { Refusal } from '../spec/refusal.ts';

/** Why a version is refused, each with its cure. */

const field = 'spec.version';

export function unsupported(version: string): Refusal {
  return {
    reason: 'VersionNotSupported',
    message: `spec.version is ${JSON.stringify(version.slice(0, 40))}, which etcd-ratchet does not support`,
    cure: `set spec.version to a version like 3.6.16; ${supportedVersions}`,
    field,
  };
}

export function downgrade(runs: string, wanted: Version): Refusal {
  return {
    reason: 'DowngradeRefused',
    message: `etcd ${runs} has run here, and its data must not be opened by ${formatVersion(wanted)}`,
    cure: `set spec.version to ${runs}, or restore a snapshot into a new cluster`,
    field,
  };
}

export function skipped(runs: Version, wanted: Version): Refusal {
  const next = `${runs.major}.${runs.minor + 1}`;
  return {
    reason: 'MinorSkipped',
    message: `the cluster runs etcd ${formatVersion(runs)}, and can reach ${formatVersion(wanted)} only through ${next}`,
    cure: `set spec.version to a ${next} first, and to ${formatVersion(wanted)} when every member runs that`,
    field,
  };
}

export function patchTooOld(old: Version, other: Version, minimum: Version): Refusal {
  const first = formatVersion(minimum);
  return {
    reason: 'PatchTooOld',
    message: `members of etcd ${formatVersion(old)} must not run beside ${minorText(other)}: etcd requires ${first} or a later ${minorText(minimum)}`,
    cure: `set spec.version to ${first} or a later ${minorText(minimum)} first`,
    field,
  };
}

/** In a spec that is older than the reservation: the API server takes no new one. */
export function flagsReserved(flags: readonly string[]): Refusal {
  return {
    reason: 'FlagReserved',
    message: `etcd-ratchet decides ${flags.map((flag) => `--${flag} (${reservedBecause(flag)})`).join(', ')}: members are made without what the spec says of it`,
    cure: `remove ${flags.join(', ')} from spec.etcd.extraArgs`,
    field: 'spec.etcd.extraArgs',
  };
}

/** etcd has a defect that endangers the data. */
export function defective(version: string, { because, use }: NonNullable<ReturnType<typeof mustNotRun>>): Refusal {
  return {
    reason: 'VersionHasDefect',
    message: `etcd ${version} must not be used: ${because}`,
    cure: `set spec.version to ${use} or a later patch, which starts on the same data`,
    field,
  };
}

export function flagsUnknown(wanted: Version, flags: readonly string[]): Refusal {
  const ofGate = flags.filter((flag) => flag.startsWith('feature-gates='));
  const fields = [
    ...(ofGate.length < flags.length ? ['spec.etcd.extraArgs'] : []),
    ...(ofGate.length > 0 ? ['spec.etcd.featureGates'] : []),
  ];
  return {
    reason: 'FlagNotInVersion',
    message: `etcd ${formatVersion(wanted)} does not have ${flags.map((flag) => `--${flag}`).join(', ')}`,
    cure: `remove ${flags.join(', ')} from ${fields.join(' and ')}, or name what replaced it`,
    field: fields[0] ?? 'spec.etcd',
  };
}
