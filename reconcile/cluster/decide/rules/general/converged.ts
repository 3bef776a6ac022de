import { type Decision, done } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';
import { fillingInWords, fillingOf } from '../../../know/space/filling.ts';

/** No rule above has anything to do. */
export function converged(situation: Situation): Decision {
  const { effective } = situation;
  const members = effective.replicas === 1 ? '1 member' : `${effective.replicas} members`;
  const filling = fillingOf(situation);
  const fills = filling ? `; ${fillingInWords(filling)}` : '';
  return done('Converged', `${members} of etcd ${effective.inputs.version}, all healthy${fills}`);
}
