import type { RefusalReason } from '../../../../reconcile/reasons/refusals.ts';

/**
 * Why what happens to a cluster is rightly not what was foretold of it. A plan takes it that nothing more breaks, and
 * that nobody interferes.
 */
export type Apart =
  /** What ends it is seen only when it is tried: what was done until then was foretold. */
  { readonly endsFor: readonly RefusalReason[] } | { readonly because: string };

type Clusters = Readonly<Record<string, Apart>>;

const breaks = 'the story breaks something else while the steps are taken';
const person = 'a person goes on by the runbook while the steps are taken';

/** By story, and the name of its cluster. */
export const apart: Readonly<Record<string, Clusters>> = {
  'backup-schedule': { lasting: { endsFor: ['BackupFailed'] } },
  'cert-manager': { taken: { endsFor: ['NameTaken'] } },
  migrate: {
    later: { because: 'its snapshot brings alarms, which are seen when it runs' },
    'too-low': { endsFor: ['SnapshotTooNew'] },
  },
  'other-hands': { orders: { because: 'other clients write into its objects while steps are taken' } },
  'out-of-memory': { starved: { endsFor: ['BirthCutShort'] } },
  receipts: { orders: { because: breaks } },
  restore: {
    killed: { because: breaks },
  },
  runbooks: {
    refused: { because: breaks },
    taken: { endsFor: ['NameTaken'] },
    held: { endsFor: ['BackupFailed'] },
    disk: { because: person },
    contested: { because: 'another client writes into its StatefulSet while steps are taken' },
  },
  'runbooks-data': {
    differs: { because: 'a person disarms the alarm by the runbook, before or after a step does' },
    retained: { because: person },
    unborn: { endsFor: ['RestoreFailed'] },
  },
  'runbooks-recovery': {
    job: { endsFor: ['NoRoomForCopy', 'RecoveryPodStuck', 'RecoveryOutOfMemory', 'RecoveryFailed'] },
    returns: { because: breaks },
    disk: { because: breaks },
    silent: { because: person },
    rights: { endsFor: ['RecoveryNotPermitted', 'NoRoomForCopy'] },
  },
  soak: { soaked: { because: breaks } },
  'set-aside': { full: { because: breaks } },
  'tls-managed': { born: { because: 'when its last member is seen without the quorum of the others takes moments' } },
  'tls-provided': { given: { because: 'a person gives one Secret after the other, and rolls begin between them' } },
};

/** Clusters whose status rightly says at the end of their story that their plan was left, and why. */
export const leavesPlan: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'cert-manager': { without: 'that cert-manager is not served is seen when a certificate is requested' },
  'older-disk': { restored: 'a person accepts older disks after its birth, and members are started anew' },
  'runbooks-data': { provided: 'a person gives its Secret after the plan was made without certificates' },
};
