/**
 * What may go wrong, each of them once or more often as a scenario says. The first four are about invocations and their
 * requests (`transitions.ts`), the others happen to the world.
 */
export type FaultKind = 'death' | 'late' | 'again' | 'second' | WorldFault;

export type WorldFault = NodeFault | MemberFault;

export type NodeFault = 'node' | 'cut' | 'returns' | 'force' | 'restore' | 'jobPod' | 'kill' | 'trial' | 'cramped';

type MemberFault =
  | 'crash'
  | 'blank'
  | 'eviction'
  | 'wipe'
  | 'claim'
  | 'lost'
  | 'peer'
  | 'set'
  | 'configMap'
  | 'hand'
  | 'newer'
  | 'scale'
  | 'noDryRuns'
  | 'webhook'
  | 'dryRuns'
  | 'remove'
  | 'leader'
  | 'lag'
  | 'status'
  | 'apart'
  | 'writes'
  | 'backupFails'
  | 'backupAges'
  | 'backupGoes'
  | 'objectGoes'
  | 'namedGoes'
  | 'namedTurns'
  | 'namedAnew'
  | UserFault;

export type UserFault = 'userMade' | 'rightsGiven' | 'rightsTaken' | 'authTurned';
