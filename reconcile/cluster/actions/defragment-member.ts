import { EtcdError } from '../../etcd.ts';
import type { EtcdAdmin } from '../../etcd-admin.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { type Defragmented, readDefragmented, withDefragmented } from '../defragmented.ts';
import { withEtcd } from '../etcd-way.ts';
import { moved } from '../outcome.ts';
import { type ActContext, livePeer } from './context.ts';

/**
 * So long it is waited for; milliseconds. etcd goes on after that, and the next steps see by its status when it is done: it answers
 * again, and its database is smaller.
 */
const timeoutMs = 10_000;

/**
 * Lets one member rewrite its database, which answers nobody meanwhile.
 *
 * Guards I1: read again just before, every other voter answers and knows a leader, and this member leads nobody. The peer remembers
 * that it was asked, before it is: what fails, or ends unseen, is not repeated without end.
 */
export async function defragmentMember(action: ActionOf<'defragment-member'>, context: ActContext): Promise<void> {
  const { name, memberId, at, size, bareAt } = action;
  const { etcd: way, signal } = context;
  const endpoint = way.endpoints.get(name);
  if (endpoint === undefined) throw moved(`${name} does not run any more`);
  await withEtcd(way, async (etcd, endpoints) => {
    const others = await answeringOthers(etcd, endpoints, action, signal);
    await handOver(etcd, endpoint, { endpoints, others, action, signal });
    const before = readDefragmented(await livePeer(context, name));
    const vain = (before?.vain ?? 0) + 1;
    await note(name, { at: new Date(at), vain }, context);
    await etcd.defragment(endpoint, { signal, memberId, timeoutMs });
    const { dbSize } = await etcd.status(endpoint, { signal });
    const hasShrunk = dbSize < size;
    if (!hasShrunk && bareAt === undefined) return;
    // Only now: one that failed has proved nothing about what its content takes.
    const mark = {
      at: new Date(at),
      vain: hasShrunk ? 0 : vain,
      ...(bareAt !== undefined && { bareAt: BigInt(bareAt) }),
    };
    await note(name, mark, context);
  });
}

/** The other voters, of which there may be none. @throws {StepError} when one of them does not answer. */
async function answeringOthers(
  etcd: EtcdAdmin,
  endpoints: readonly string[],
  { name, memberId, clusterId }: ActionOf<'defragment-member'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const [list, statuses] = await Promise.all([
    etcd.members(endpoints, { signal }),
    Promise.all(endpoints.map((endpoint) => etcd.status(endpoint, { signal }).catch(silent))),
  ]);
  if (list.clusterId !== clusterId) throw moved(`another etcd cluster answers than the one of ${name}`);
  const others = list.members.filter(({ id, isLearner }) => id !== memberId && !isLearner);
  const away = others.find(({ id }) => !statuses.some((status) => status?.memberId === id && status.leader !== '0'));
  if (away) throw moved(`${away.name || away.id} does not answer any more, so ${name} is not defragmented`);
  return others.map(({ id }) => id);
}

function silent(error: unknown): undefined {
  if (!(error instanceof EtcdError)) throw error;
}

/** A leader that answers nobody would hold up every write. */
async function handOver(
  etcd: EtcdAdmin,
  endpoint: string,
  {
    endpoints,
    others,
    action: { name, memberId, clusterId, successor },
    signal,
  }: {
    readonly endpoints: readonly string[];
    readonly others: readonly string[];
    readonly action: ActionOf<'defragment-member'>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  if (others.length === 0 || !(await leadsNow(etcd, endpoint, memberId, signal))) return;
  if (!successor || !others.includes(successor.memberId)) throw moved(`${name} leads, and nobody else can`);
  await etcd.moveLeader(endpoints, successor.memberId, { signal, clusterId });
  if (await leadsNow(etcd, endpoint, memberId, signal)) throw moved(`${name} leads again`);
}

async function leadsNow(etcd: EtcdAdmin, endpoint: string, memberId: string, signal: AbortSignal): Promise<boolean> {
  const status = await etcd.status(endpoint, { signal });
  if (status.memberId !== memberId) throw moved(`another member than ${memberId} lives at ${endpoint} now`);
  return status.leader === memberId;
}

async function note(name: string, mark: Defragmented, context: ActContext): Promise<void> {
  const peer = await livePeer(context, name);
  await context.kube.update(resources.peers, withDefragmented(peer, mark), { signal: context.signal });
}
