import { type Decision, done } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/** No rule above has anything to do. */
export function converged({ effective }: Situation): Decision {
  const members = effective.replicas === 1 ? '1 member' : `${effective.replicas} members`;
  return done('Converged', `${members} of etcd ${effective.inputs.version}, all healthy`);
}
