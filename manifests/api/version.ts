/** An etcd version. Pre-releases are not supported: no cluster should depend on one. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/**
 * The minors that we know how to run, and the first patch of each. 3.5.19 is the first whose `/readyz` fails for
 * learners: before, a learner counts as Ready, for the client Service and for the disruption budget.
 */
const supportedMinors: Readonly<Record<string, number>> = { '3.5': 19, '3.6': 0, '3.7': 0 };

export const supportedVersions = 'supported are 3.5 (from 3.5.19 on), 3.6 and 3.7';

/** Without leading zeros: the text becomes an image's tag. */
const number = '(0|[1-9][0-9]{0,3})';
export const versionPattern = `^${number}[.]${number}[.]${number}$`;
const grammar = new RegExp(versionPattern.replace('^', '^v?'));

/** Reads `3.6.16`, as every field has it, and `v3.6.16`, as tags do. @throws {RangeError} for neither */
export function parseVersion(text: string): Version {
  const [, major, minor, patch] = grammar.exec(text) ?? [];
  if (major === undefined) throw new RangeError(`${JSON.stringify(text)} is not a version like 3.6.16`);
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

export function isVersion(value: unknown): value is string {
  return typeof value === 'string' && grammar.test(value);
}

export function isSupportedVersion(value: string): boolean {
  if (!isVersion(value)) return false;
  const { major, minor, patch } = parseVersion(value);
  const key = `${major}.${minor}`;
  return Object.hasOwn(supportedMinors, key) && patch >= (supportedMinors[key] ?? Number.POSITIVE_INFINITY);
}

/** Negative when `a` is older, 0 when they are the same, positive when `a` is newer. */
export function compareVersions(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/** @throws when one of them is no version. */
export function isHigher(version: string, than: string): boolean {
  return compareVersions(parseVersion(version), parseVersion(than)) > 0;
}

/** Without the `v` that people may have written. */
export function formatVersion({ major, minor, patch }: Version): string {
  return `${major}.${minor}.${patch}`;
}

/** Minors in their order, as numbers. */
export function minorOf({ major, minor }: Version): number {
  return major * 10_000 + minor;
}

/** Like `3.6`. */
export function minorText({ major, minor }: Version): string {
  return `${major}.${minor}`;
}

export function isSameMinor(version: string, other: Version): boolean {
  return minorOf(parseVersion(version)) === minorOf(other);
}

/** Whether it is a version, of a lower minor than the other one. */
export function isMinorBelow(text: string | undefined, version: string): boolean {
  return isVersion(text) && minorOf(parseVersion(text)) < minorOf(parseVersion(version));
}

/** `undefined` of none. */
export function highestOf(versions: readonly Version[]): Version | undefined {
  return versions.toSorted(compareVersions).at(-1);
}
