import { heal } from '../../../reconcile/cluster/decide/rules/membership/heal.ts';
import { refuse } from '../../../reconcile/cluster/know/decision.ts';
import { type Bug, instead } from '../seeding.ts';

/**
 * Bugs that break no invariant, and leave a cluster with a refusal that names a cure. A search takes that for rest:
 * only beside a quorum that is healed it is wrong.
 */
export const livenessBugs: readonly Omit<Bug, 'scenario' | 'faults'>[] = [
  {
    name: 'leaves-the-dead',
    what: 'a dead voter is left to a person, whatever spec.healing says',
    violates: 'liveness',
    seed: (code) =>
      instead(code, 'heal', (situation) => {
        const decision = heal(situation);
        if (decision?.kind !== 'act') return decision;
        return refuse('MemberNotFenced', `${decision.message}: its node does not report`, 'bring the node back');
      }),
  },
];
