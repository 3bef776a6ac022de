import type { EtcdNodePolicy, NodeGrant } from '../../manifests/api/etcd-node-policy.ts';
import type { RebootMethod } from '../../manifests/render/reboot-job.ts';
import { moved } from '../cluster/know/outcome.ts';
import type { Program } from '../requests/program.ts';
import { timestamp } from '../time/timestamp.ts';
import { cordoned, isOurs, type NodeChange, welcomed } from './change-node.ts';
import { methodOf, type NodeAction, rebootTimeoutOf } from './decision.ts';
import { evictAll } from './evict.ts';
import { noMarks } from './marks.ts';
import type { NodeSeen, NodesObservation } from './observation.ts';
import { createJob, deleteJob, readJob } from './requests/jobs.ts';
import { moveLeader } from './requests/leaving.ts';
import { writeNode, writePolicy } from './requests/objects.ts';

export interface NodeDeed {
  /** The policy as it was written. */
  readonly policy: EtcdNodePolicy;
  /** Pods that a disruption budget keeps. */
  readonly kept: readonly string[];
}

/**
 * One action, as a program of requests, for running, plans and the search alike. Each write is fenced: the Node's and
 * the policy's by the resourceVersion that was seen, a pod by its own.
 */
export function* actOnNode(action: NodeAction, seen: NodesObservation): Program<NodeDeed> {
  const { policy } = seen;
  const plain = { policy, kept: [] };
  switch (action.kind) {
    case 'grant': {
      const granted = yield* recordGrant(action.grant, policy);
      yield* change(action.node, seen, (node) => cordoned(node, action.grant.id));
      return { policy: granted, kept: [] };
    }
    case 'cordon': {
      const withoutOrder = yield* recordOrder(action.id, undefined, policy);
      yield* change(action.node, seen, (node) => cordoned(node, action.id));
      return { policy: withoutOrder, kept: [] };
    }
    case 'move-leaders':
      for (const move of action.moves) yield* moveLeader(move);
      return plain;
    case 'evict':
      return { policy, kept: yield* evictAll(action, seen) };
    case 'order':
      return { policy: yield* order(action, seen), kept: [] };
    case 'welcome':
      yield* change(action.node, seen, (node) => welcomed(node, action));
      return plain;
    case 'finish':
      yield* change(action.node, seen, () => ({ ...noMarks, done: action.id }));
      yield* dropJob(action.id);
      return plain;
    case 'put-off':
      // The Node first: of this and the Job that would take the order up, one gets a 409.
      yield* change(action.node, seen, (node) => ({
        ...noMarks,
        putOff: action.reason,
        uncordon: isOurs(node, action.id),
      }));
      yield* dropJob(action.id);
      return plain;
    case 'drop':
      yield* dropJob(action.id);
      return plain;
  }
}

function* change(name: string, { nodes }: NodesObservation, what: (node: NodeSeen) => NodeChange): Program {
  const node = nodes.find((one) => one.name === name);
  if (node) yield* writeNode({ name, change: what(node) });
}

function* recordGrant(grant: NodeGrant, policy: EtcdNodePolicy): Program<EtcdNodePolicy> {
  const { generation = 0 } = policy.metadata;
  const before = { observedGeneration: generation, ...policy.status };
  const grants = [...(before.grants ?? []), grant];
  return yield* writePolicy({ policy: { ...policy, status: { ...before, grants } } });
}

/** Of method External the annotation alone is no order: every writer of Nodes can set it. */
function* recordOrder(id: string, ordered: string | undefined, policy: EtcdNodePolicy): Program<EtcdNodePolicy> {
  const { status } = policy;
  const grant = status?.grants?.find((one) => one.id === id);
  if (!status || !grant || (grant.ordered === undefined) === (ordered === undefined)) return policy;
  const { ordered: _, ...rest } = grant;
  const changed = { ...rest, ...(ordered !== undefined && { ordered }) };
  const grants = status.grants?.map((one) => (one.id === id ? changed : one));
  return yield* writePolicy({ policy: { ...policy, status: { ...status, ...(grants && { grants }) } } });
}

function* order(
  { node, grant }: Extract<NodeAction, { kind: 'order' }>,
  seen: NodesObservation,
): Program<EtcdNodePolicy> {
  const { policy, at } = seen;
  const isExternal = methodOf(policy.spec) === 'External';
  const word = isExternal ? grant.id : yield* jobFor(grant, policy);
  yield* change(node, seen, () => ({ now: word }));
  // Last: from then on an annotation that is not there any more was taken up.
  return isExternal ? yield* recordOrder(grant.id, timestamp(at), policy) : policy;
}

/**
 * The UID of the grant's Job, which the order names. @throws {StepError} `precondition` if one has ended without an
 * order: the next step makes another
 */
function* jobFor(grant: NodeGrant, policy: EtcdNodePolicy): Program<string> {
  const deadline = Math.ceil(rebootTimeoutOf(policy.spec) / 1000);
  const made = yield* createJob({ grant, method: methodFrom(policy), deadline });
  if (made !== undefined) return made;
  // Of a step that was ended before it could name it on the Node, or whose order was taken back: it waits for one.
  const found = yield* readJob({ id: grant.id });
  if (found?.state === 'under-way') return found.uid;
  if (found) yield* deleteJob({ id: grant.id, uid: found.uid });
  throw moved(`a Job of ${grant.node} has ended without an order: the next step makes another`);
}

function* dropJob(id: string): Program {
  const found = yield* readJob({ id });
  if (found) yield* deleteJob({ id, uid: found.uid });
}

function methodFrom({ spec }: EtcdNodePolicy): RebootMethod {
  const kind = methodOf(spec);
  if (kind === 'Command') return { kind, command: spec.reboot?.command ?? [] };
  return { kind: kind === 'Signal' ? 'Signal' : 'DBus' };
}
