import type { EtcdBackup } from '../manifests/api/etcd-backup.ts';
import { backupKind } from './backup/kind.ts';
import type { BackupResult } from './backup/step.ts';
import { clusterKind } from './cluster/kind.ts';
import { nodePolicyKind } from './nodes/kind.ts';
import { isTrue } from './objects/conditions.ts';
import { restoreKind } from './restore/kind.ts';
import type { RestoreResult } from './restore/pass.ts';
import { scheduleKind } from './schedule/kind.ts';
import type { Kinds, ResultsOf } from './stepping/kind.ts';

const nextLink = 'the next link of the chain goes on with all';

/**
 * All kinds that a pass steps, in order. A kind begins when those that it comes `after` have had their first steps;
 * others go on side by side. `<room>/kind.ts` says what a kind is; this table, where it stands, and why.
 */
export const kinds = {
  restore: {
    ...restoreKind,
    scope: 'whole',
    after: {},
    again: {
      after: {
        cluster: { why: 'what a restore says of its cluster is as the steps of this pass left it' },
        backup: {
          why: 'a backup that became Ready meanwhile is restored from at once',
          applies: (first: readonly RestoreResult[]) => first.some(({ awaitsBackup }) => awaitsBackup),
        },
      },
      isDue: (first: readonly RestoreResult[], of) => first.some(({ isOpen }) => isOpen) || of('backup').some(isReady),
    },
  },
  cluster: {
    ...clusterKind,
    scope: 'some',
    after: { restore: 'the cluster that a restore makes has its first step in this pass' },
  },
  schedule: {
    ...scheduleKind,
    scope: 'whole',
    after: { restore: 'until clusters begin, nothing but what they wait for asks the API server' },
  },
  backup: {
    ...backupKind,
    scope: 'whole',
    after: { schedule: 'what a schedule makes is begun at once' },
    waits: { ...backupKind.waits, until: { cluster: `${nextLink}: it waits for no Job of a backup` } },
  },
  nodePolicy: {
    ...nodePolicyKind,
    scope: 'whole',
    after: { cluster: 'whether a node may go is seen as the first steps of clusters left them' },
    waits: { ...nodePolicyKind.waits, until: { cluster: nextLink } },
  },
} as const satisfies Kinds;

export type Results = ResultsOf<typeof kinds>;

function isReady(result: object): boolean {
  const { backup } = result as BackupResult;
  return isTrue((backup satisfies EtcdBackup).status, 'Ready');
}
