import { heal } from '../../reconcile/cluster/decide/rules/membership/heal.ts';
import { replacementGiven } from '../../reconcile/cluster/know/membership/replacement-approval.ts';
import type { Rule } from '../../reconcile/cluster/know/situation.ts';
import { type Bug, instead } from './seeding.ts';

type Situation = Parameters<Rule>[0];

export const healingBugs: readonly Bug[] = [
  {
    name: 'heals unasked',
    what: 'a dead voter is replaced without an approval, although the spec asks for one',
    violates: 'I14',
    scenario: 'heal 3 by hand',
    faults: { wipe: 1 },
    seed: (code) => instead(code, 'heal', (situation) => heal(automatic(situation))),
  },
  {
    name: 'takes any approval',
    what: 'an approval that was given for one member counts for every other one, too',
    violates: 'I14',
    scenario: 'heal 3 by hand, approved before',
    faults: { wipe: 1 },
    seed: (code) =>
      instead(code, 'heal', (situation) =>
        heal(replacementGiven(situation) === undefined ? situation : automatic(situation)),
      ),
  },
];

/** As if the spec left it to us. */
function automatic(situation: Situation): Situation {
  const { cluster } = situation;
  const spec = { ...cluster.spec, healing: { ...cluster.spec.healing, mode: 'Automatic' as const } };
  return { ...situation, cluster: { ...cluster, spec } };
}
