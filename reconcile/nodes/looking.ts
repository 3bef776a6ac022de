import { parseDuration } from '../../manifests/api/duration.ts';
import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import { nodePolicyDefaults } from '../../manifests/api/spec-defaults.ts';
import type { Job, Node } from '../../manifests/kube-types.ts';
import { type LookOrder, lookJob, lookJobName } from '../../manifests/render/look-job.ts';
import { isReason, KubeError, resources } from '../interfaces/kube.ts';
import { podsOfJob } from '../jobs/pods.ts';
import { writeEvent } from '../objects/event.ts';
import { inParallel } from '../stepping/in-parallel.ts';
import { earliest } from '../time/later-look.ts';
import { answerOf, dueLooks } from './looks.ts';
import { withMarks } from './marks.ts';
import type { NodeSeen } from './observation.ts';
import { type NodesContext, seenPlainly } from './observe.ts';
import { nodeMeanings } from './reasons.ts';

/** Looks on nodes for the file that says that they need a reboot: `spec.sentinel`. */

export interface LookContext extends NodesContext {
  readonly image: () => Promise<string>;
}

export interface Looking {
  readonly underWay: boolean;
  /** When the next look is due. */
  readonly nextAt?: Date;
}

const parallel = 5;

type Lists = Parameters<typeof seenPlainly>[1] & { readonly nodes: readonly Node[] };
type Due = NodeSeen & { readonly node: Node };

/** What keeps looks from going on keeps no node on its way: it is logged, and tried again. */
export async function lookForSentinels(policy: EtcdNodePolicy, lists: Lists, context: LookContext): Promise<Looking> {
  try {
    return await look(policy, lists, context);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    context.log({ nodePolicy: policy.metadata.name, problem: error.message }, 'no node is looked at: tried again');
    return { underWay: true };
  }
}

interface Step {
  readonly workRemains: boolean;
  readonly afterSeconds?: number;
  readonly nextAt?: Date;
}

/** Between two looks at what Jobs of looks have answered, in seconds. */
const lookSeconds = 3;

/** Looks go on beside the reboots of other nodes. */
export function alsoLooking<T extends Step>(result: T, { underWay, nextAt }: Looking): T {
  const next = earliest(result.nextAt, nextAt);
  return {
    ...result,
    ...(next && { nextAt: next }),
    ...(underWay && { workRemains: true, afterSeconds: Math.min(result.afterSeconds ?? lookSeconds, lookSeconds) }),
  };
}

/**
 * A Job for each node whose look is due. Its answer is written on the Node first, then the Job is deleted; an
 * interrupted look is repeated. A policy without a sentinel costs no request. @throws {KubeError}
 */
async function look(policy: EtcdNodePolicy, lists: Lists, context: LookContext): Promise<Looking> {
  const { sentinel, suspend } = policy.spec;
  if (!sentinel || suspend || context.dryRun || policy.metadata.deletionTimestamp !== undefined)
    return { underWay: false };
  const { path = nodePolicyDefaults.sentinel.path, every = nodePolicyDefaults.sentinel.every } = sentinel;
  const at = context.kube.now() ?? new Date();
  const nodes = lists.nodes.map((node): Due => ({ ...seenPlainly(policy, lists, node), node }));
  const { due, isMore, nextAt } = dueLooks(nodes, parseDuration(every), at);
  const open = await inParallel(due, parallel, (one) => lookOn(one, path, context));
  return { underWay: isMore || open.includes('open'), ...(nextAt && { nextAt }) };
}

async function lookOn(due: Due, path: string, context: LookContext): Promise<'open' | 'answered'> {
  const { kube, rebootsIn: namespace, signal } = context;
  const order = { node: due.name, uid: due.uid, bootId: due.bootId, path };
  const name = lookJobName(order);
  const job = await kube.get<Job>(resources.jobs, namespace, name, { signal });
  if (!job) return begin(due, order, context);
  const answer = answerOf(job, await podsOfJob(kube, job, signal), due.marks);
  if (answer === 'under-way') return 'open';
  const isNoted = answer === 'stale' || (await note(due, answer, path, context));
  if (!isNoted) return 'open';
  const preconditions = { uid: job.metadata.uid ?? '' };
  await kube.delete(resources.jobs, namespace, name, { preconditions, propagation: 'Background', signal });
  return answer === 'stale' ? 'open' : 'answered';
}

async function begin(due: Due, order: LookOrder, context: LookContext): Promise<'open' | 'answered'> {
  const { kube, rebootsIn: namespace, signal, log } = context;
  try {
    const job = lookJob({ ...order, namespace, image: await context.image() });
    await kube.create<Job>(resources.jobs, job, { signal });
    return 'open';
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) return 'open';
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    // A quota or an admission policy: it is told on the Node, and tried again when the next look is due.
    log({ node: due.name, reason: 'LookFailed' }, `the Job of a look is refused: ${error.message}`);
    await note(due, 'failed', order.path, context);
    return 'answered';
  }
}

const eventOf = { needed: 'SentinelFound', old: 'SentinelStays', failed: 'LookFailed' } as const;

/** Whether it was written: the Node may have changed since it was listed. */
async function note(
  { node, marks, uid }: Due,
  answer: 'needed' | 'old' | 'none' | 'failed',
  path: string,
  context: LookContext,
): Promise<boolean> {
  const { kube, signal } = context;
  const at = kube.now() ?? new Date();
  const { name } = node.metadata;
  const wish = answer === 'needed' ? path : undefined;
  const annotations = withMarks(
    node.metadata.annotations,
    { looked: answer },
    { at, ...(wish !== undefined && { wish }) },
  );
  try {
    await kube.update<Node>(resources.nodes, { ...node, metadata: { ...node.metadata, annotations } }, { signal });
  } catch (error) {
    if (isReason(error, 'Conflict') || isReason(error, 'NotFound')) return false;
    throw error;
  }
  // News only where it is another answer than before.
  if (answer === 'none' || (answer !== 'needed' && marks.looked?.word === answer)) return true;
  const reason = eventOf[answer];
  const type = answer === 'needed' ? 'Normal' : 'Warning';
  const id = `${at.getTime().toString(16)}${context.nonce().slice(0, 8)}`;
  const news = { type, action: 'Look', reason, note: `${path}: ${nodeMeanings[reason].means}` } as const;
  const about = { metadata: { name, namespace: 'default', uid } };
  await writeEvent(kube, about, news, { id, at, signal, about: resources.nodes });
  return true;
}
