import type { Mutant } from '../mutant.ts';

const file = 'reconcile/fleet/rollout-approval.ts';
const killers: Mutant['killers'] = ['test/unit/fleet/rollout-approval.test.ts'];

/** A halted commit goes on as a person approved, and no other. */
export const ofRolloutApprovals: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/observe/stages.ts',
    from: 'above: resumed ? undefined : above',
    to: 'above',
    without: 'a rollout stays halted though a person approved that its commit goes on',
    killers: ['test/unit/cluster/halts.test.ts'],
  },
  {
    file: 'reconcile/cluster/observe/stages.ts',
    from: 'unapplied || resumed ? {}',
    to: 'unapplied ? {}',
    without: 'a commit status that failed halts what a person approved to go on',
    killers: ['test/unit/cluster/failed-statuses.test.ts'],
  },
  {
    file,
    from: 'if (fleet.metadata.annotations?.[annotation] !== approval.value) return { counts: false };',
    to: 'if (fleet.metadata.annotations?.[annotation] === undefined) return { counts: false };',
    without: 'an approval of one commit lets every later one go on',
    killers,
  },
  {
    file: 'reconcile/fleet/outcome.ts',
    from: 'return applied === attempted ? applied : undefined;',
    to: 'return applied;',
    without: 'an approval of one commit lets the next go on while that is being applied',
    killers,
  },
  {
    file,
    from: 'before: [...new Set(signers)]',
    to: 'before: []',
    without: 'the author of a halted commit approves it once another commit is on top',
    killers,
  },
  {
    file: 'reconcile/fleet/roll-up.ts',
    from: "isCurrent && says(last, 'RolloutHalted')",
    to: "says(last, 'RolloutHalted')",
    without: 'the revert of a commit asks to be let go on for what halted that',
    killers,
  },
  {
    file,
    from: 'counts: refused === undefined',
    to: 'counts: true',
    without: 'the author of a commit lets its rollout go on where four eyes are asked for',
    killers,
  },
];
