import type { Situation } from './decide.ts';
import { type Decision, refuse } from './decision.ts';

/** After two new members in a row that came to nothing, under this spec, a person must look: a third would fare no better. */
export function learnersFail(situation: Situation): Decision | undefined {
  if (failedJoins(situation) < 2) return undefined;
  return refuse(
    'LearnersFail',
    'two new members in a row have not come to join',
    'see status.history and the events of the pods for why, and change the spec: each change is given two new attempts',
  );
}

/** Since the last one that got through. Told by the status: where it is lost, it is only tried again. */
function failedJoins({ cluster }: Situation): number {
  const { history = [] } = cluster.status ?? {};
  const last = history.findLastIndex(({ reason }) => reason === 'PromotingLearner');
  return history
    .slice(last + 1)
    .filter(({ reason, outcome }) => reason === 'RemovingFailedLearner' && outcome === 'acted')
    .filter(({ generation }) => generation === cluster.metadata.generation).length;
}
