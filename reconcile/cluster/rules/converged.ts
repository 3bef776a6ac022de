import type { Situation } from '../decide.ts';
import { type Decision, done } from '../decision.ts';

/** Nothing is left to do. */
export function converged({ effective }: Situation): Decision {
  const members = effective.replicas === 1 ? '1 member' : `${effective.replicas} members`;
  return done('Converged', `${members} of etcd ${effective.inputs.version}, all healthy`);
}
