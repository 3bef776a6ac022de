import { beBorn } from '../../reconcile/cluster/decide/rules/birth/be-born.ts';
import { beginFromSnapshot } from '../../reconcile/cluster/decide/rules/birth/begin-from-snapshot.ts';
import { type Decision, wait } from '../../reconcile/cluster/know/decision.ts';
import type { Situation } from '../../reconcile/cluster/know/situation.ts';
import { lacking } from './model/state.ts';
import { type Bug, instead } from './seeding.ts';

/** Bugs in how a cluster is born from a snapshot. */
export const restoreBugs: readonly Bug[] = [
  {
    name: 'restores-over-data',
    what: 'a Job does not look whether there are data already, and its number is not compared',
    violates: 'I5',
    scenario: 'restore to 1, and its Job is lost',
    faults: { late: 1, jobPod: 1 },
    seed: (code) => ({ ...code, keepsData: false }),
  },
  {
    name: 'forgets-the-snapshot',
    what: 'a birth takes no notice of the snapshot that the spec names',
    violates: 'I11',
    scenario: 'restore to 1',
    faults: {},
    seed: (code) => instead(code, 'beBorn', withoutSnapshot),
  },
  {
    name: 'never-restores-again',
    what: 'a Job of a restore that was lost is waited for',
    violates: 'convergence',
    scenario: 'restore to 1',
    faults: { kill: 1 },
    seed: (code) =>
      instead(code, 'beginFromSnapshot', (situation) => {
        const decision = beginFromSnapshot(situation);
        return decision?.reason === 'RepeatingRestore' ? wait('AwaitingRestore', decision.message) : decision;
      }),
  },
];

function withoutSnapshot(situation: Situation): Decision | undefined {
  const { cluster } = situation;
  return beBorn({ ...situation, cluster: { ...cluster, spec: lacking(cluster.spec, 'bootstrap') } });
}
