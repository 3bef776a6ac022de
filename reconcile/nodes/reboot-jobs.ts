import type { EtcdNodePolicy, NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import type { RebootMethod } from '../../manifests/render/reboot-job.ts';
import { moved } from '../cluster/know/outcome.ts';
import type { Program } from '../requests/program.ts';
import { methodOf, rebootTimeoutOf } from './decision.ts';
import { createJob, deleteJob, readJob } from './requests/jobs.ts';

/**
 * The UID of the grant's Job, which the order names. @throws {StepError} `precondition` if one has ended without an
 * order: the next step makes another
 */
export function* jobFor(grant: NodeGrant, policy: EtcdNodePolicy): Program<string> {
  const deadline = Math.ceil(rebootTimeoutOf(policy.spec) / 1000);
  const made = yield* createJob({ grant, method: methodFrom(policy), deadline });
  if (made !== undefined) return made;
  // Of a step that was ended before it could name it on the Node, or whose order was taken back: it waits for one.
  const found = yield* readJob({ id: grant.id });
  if (found?.state === 'under-way') return found.uid;
  if (found) yield* deleteJob({ id: grant.id, uid: found.uid });
  throw moved(`a Job of ${grant.node} has ended without an order: the next step makes another`);
}

export function* dropJob(id: string): Program {
  const found = yield* readJob({ id });
  if (found) yield* deleteJob({ id, uid: found.uid });
}

function methodFrom({ spec }: EtcdNodePolicy): RebootMethod {
  const kind = methodOf(spec);
  if (kind === 'Command') return { kind, command: spec.reboot?.command ?? [] };
  return { kind: kind === 'Signal' ? 'Signal' : 'DBus' };
}
