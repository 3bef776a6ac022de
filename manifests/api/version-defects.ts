import { minorText, parseVersion } from './version.ts';

/** Defects of etcd by patch, from its changelogs; the first was also made to happen here. */
export interface Defect {
  /** As etcd names it. */
  readonly id: string;
  /** Half a sentence, which follows the version. */
  readonly what: string;
  /** By minor, the first patch without it. A minor that is not named never had it. */
  readonly fixedIn: Readonly<Record<string, number>>;
  /** Such a version is refused for births and as a target: it endangers the data whatever clients do. */
  readonly mustNotRun?: true;
  /** Users get at what they have no right to: etcd's authentication is not turned on with such a version. */
  readonly bypassesAuth?: true;
}

const defects: readonly Defect[] = [
  {
    id: 'etcd#20387',
    what: 'makes every member panic at its next start once a member was promoted and removed',
    fixedIn: { '3.6': 4 },
    mustNotRun: true,
  },
  {
    id: 'etcd#20650',
    what: 'may corrupt the data of a member that is defragmented while it receives a snapshot',
    fixedIn: { '3.5': 23, '3.6': 5 },
    mustNotRun: true,
  },
  {
    id: 'etcd#20896',
    what: 'keeps learners on the list after a forced recovery',
    fixedIn: { '3.5': 25, '3.6': 6 },
  },
  {
    id: 'CVE-2026-33413',
    what: 'answers some calls without authentication',
    fixedIn: { '3.5': 28, '3.6': 9 },
    bypassesAuth: true,
  },
  {
    id: 'CVE-2026-33343',
    what: 'does not check the rights of nested transactions',
    fixedIn: { '3.5': 28, '3.6': 9 },
    bypassesAuth: true,
  },
  {
    id: 'etcd#21417',
    what: 'may answer a linearizable read with old data after its process was paused',
    fixedIn: { '3.5': 28, '3.6': 9 },
  },
  {
    id: 'etcd#21681',
    what: 'shows values without the right to read them to Put requests in transactions',
    fixedIn: { '3.5': 30, '3.6': 11 },
    bypassesAuth: true,
  },
  {
    id: 'GHSA-3wh4-j44w-pg92',
    what: 'does not enforce a CRL on its gRPC listener where listen-client-http-urls is set',
    fixedIn: { '3.5': 32, '3.6': 13 },
  },
  {
    id: 'GHSA-xg4h-6gfc-h4m8',
    what: 'lets a user with the right to read one key watch all keys from that one on',
    fixedIn: { '3.5': 33, '3.6': 14, '3.7': 1 },
    bypassesAuth: true,
  },
  {
    id: 'GHSA-6vch-q96h-7gc3',
    what: 'waits without end for TLS handshakes of clients',
    fixedIn: { '3.5': 33, '3.6': 14, '3.7': 1 },
  },
];

/** Of this version, in the order in which etcd cured them. */
export function defectsOf(version: string): readonly Defect[] {
  return defects.filter((defect) => fixIn(defect, version) !== undefined);
}

/** Why no member should run this version, and the first patch of its minor that may be used. */
export function mustNotRun(version: string): { readonly because: string; readonly use: string } | undefined {
  return worstOf(
    version,
    defectsOf(version).filter((defect) => defect.mustNotRun),
  );
}

function worstOf(version: string, found: readonly Defect[]) {
  const [worst] = found;
  return worst && { because: `it ${worst.what} (${worst.id})`, use: firstWithout(found, version) };
}

/** Why etcd's authentication protects nothing on this version, and the first patch of its minor where it does. */
export function bypassesAuth(version: string): { readonly because: string; readonly use: string } | undefined {
  return worstOf(
    version,
    defectsOf(version).filter((defect) => defect.bypassesAuth),
  );
}

/** The lowest patch of the minor that has none of these. */
export function firstWithout(some: readonly Defect[], version: string): string {
  const patches = some.flatMap((defect) => fixIn(defect, version) ?? []);
  return `${minorText(parseVersion(version))}.${Math.max(...patches)}`;
}

function fixIn({ fixedIn }: Defect, text: string): number | undefined {
  const version = parseVersion(text);
  const patch = fixedIn[minorText(version)];
  return patch !== undefined && version.patch < patch ? patch : undefined;
}
