import type { Reason } from '../../reasons/reasons.ts';
import { isAsleep } from '../know/life.ts';
import type { Outage } from '../know/outage.ts';
import type { Situation } from '../know/situation.ts';
import type { Statement } from '../know/statement.ts';

/** Whether clients can read and write. The reason tells an outage from a cluster that is not meant to serve. */
export function availability(situation: Situation, outage: Outage | undefined): Statement {
  const { membership } = situation;
  const type = 'Available';
  if (membership.kind === 'unknown') {
    const reason = outage?.reason ?? whyNot(situation);
    return { type, status: 'False', reason, message: `no quorum answers: ${membership.cause}` };
  }
  return outage
    ? { type, status: 'False', ...outage }
    : { type, status: 'True', reason: 'QuorumServes', message: 'a quorum of the members serves' };
}

function whyNot({ cluster, slots, effective }: Situation): Reason {
  if (cluster.metadata.deletionTimestamp !== undefined) return 'BeingDeleted';
  return effective.replicas === 0 || slots.some(isAsleep) ? 'Hibernating' : 'MembersStarting';
}
