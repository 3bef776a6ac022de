import type { Kind } from './group.ts';

/** The kinds that a fleet's repository may hold: the table for finding, applying, pruning, checking and rolling up. */
export const fleetKinds = {
  EtcdCluster: { plural: 'etcdclusters' },
  EtcdBackup: { plural: 'etcdbackups', runsOnce: true },
  EtcdBackupSchedule: { plural: 'etcdbackupschedules' },
  EtcdRestore: { plural: 'etcdrestores', runsOnce: true },
  EtcdNodePolicy: { plural: 'etcdnodepolicies', clusterScoped: true },
} as const satisfies Partial<Record<Kind, FleetKindFacts>>;

interface FleetKindFacts {
  readonly plural: string;
  /** It asks for one deed: applying it again after its object is gone asks for nothing while Git lists the name. */
  readonly runsOnce?: true;
  /** It belongs to no namespace: where one is asked for, it is the empty text. */
  readonly clusterScoped?: true;
}

export type FleetKind = keyof typeof fleetKinds;

export function isFleetKind(kind: string): kind is FleetKind {
  return Object.hasOwn(fleetKinds, kind);
}

export function runsOnce(kind: FleetKind): boolean {
  const facts: FleetKindFacts = fleetKinds[kind];
  return facts.runsOnce === true;
}

export function isClusterScoped(kind: string | undefined): boolean {
  if (kind === undefined || !isFleetKind(kind)) return false;
  const facts: FleetKindFacts = fleetKinds[kind];
  return facts.clusterScoped === true;
}
