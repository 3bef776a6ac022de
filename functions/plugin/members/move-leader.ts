import { setTimeout as pause } from 'node:timers/promises';
import { abortAfter } from '../../../manifests/abort-after.ts';
import { maxLag } from '../../../reconcile/cluster/know/health/health.ts';
import { quorumOf } from '../../../reconcile/cluster/know/membership/quorum.ts';
import { type EndpointStatus, EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { type Asked, type ExitCode, Refusal } from '../command.ts';
import { clusterNamed, nextCommand, say } from '../objects.ts';
import { clientKeysOf, serverNames, type Ways, waysTo } from './ways.ts';

interface MoveOptions {
  /** A member; absent: the healthy voter that has the most of the log. */
  readonly to?: string;
}

/** Milliseconds for each question, and for a quorum to name the new leader. */
const patience = 5_000;
const untilLed = 15_000;

interface Seen {
  readonly member: string;
  readonly status: EndpointStatus;
  /** Why it should not lead; absent: it may. */
  readonly unfit?: string;
}

interface Look {
  readonly clusterId: string;
  readonly leader: Seen;
  readonly members: readonly Seen[];
  readonly voters: number;
}

/**
 * Hands the leadership of etcd to a healthy voter, with this person's rights.
 * @throws {Refusal} where that voter is none, behind or ill, or a step of etcd-ratchet is under way
 */
export async function moveLeader(name: string, asked: Asked, { to }: MoveOptions): Promise<ExitCode> {
  const cluster = await clusterNamed(name, asked);
  const keys = await clientKeysOf(cluster, asked);
  await using ways = await waysTo(cluster, asked);
  const etcd = await asked.reach.etcd(keys && { ...keys, serverName: serverNames(cluster, ways) });
  try {
    const place = `${asked.namespace}/${name}`;
    const first = await look(etcd, ways, asked, cluster.status?.clusterID);
    const target = chosen(first, to, place);
    const facts = { namespace: asked.namespace, name, from: first.leader.member, to: target.member };
    if (target.status.memberId === first.leader.status.memberId) {
      say(asked, `${target.member} leads ${place} already: nothing was done`, { ...facts, milliseconds: 0 });
      return 0;
    }
    // What was seen is as old as the look: all of it again, just before.
    const { status } = await clusterNamed(name, asked);
    if (status?.step)
      throw new Refusal(
        `etcd-ratchet is taking a step (${status.step.action}): try again when it is over: ${nextCommand(asked, `why ${name}`)}`,
      );
    const now = await look(etcd, ways, asked, first.clusterId);
    const fit = chosen(now, target.member, place);
    const begun = performance.now();
    const options = { clusterId: now.clusterId, signal: bounded(asked) };
    await etcd.moveLeader(urlsOf(ways), fit.status.memberId, options);
    const led = await untilLeads(etcd, ways, asked, { memberId: fit.status.memberId, voters: now.voters });
    const milliseconds = Math.round(performance.now() - begun);
    if (led === 'stopped')
      throw new Refusal(`stopped: ${fit.member} was asked to lead ${place}, and whether it does, only a look tells`);
    if (led === 'late')
      throw new Refusal(
        `${fit.member} was asked to lead ${place}, and no quorum names it within ${untilLed / 1000} s: ${nextCommand(asked, `why ${name}`)}`,
      );
    say(
      asked,
      `${fit.member} leads ${place}, and no longer ${now.leader.member}; without a leader for at most ${milliseconds} ms`,
      {
        ...facts,
        from: now.leader.member,
        milliseconds,
      },
    );
    return 0;
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    const doubt = error.outcome === 'ambiguous' ? '; whether it had its effect, only a look tells' : '';
    throw new Refusal(`etcd says no: ${error.message}${doubt}`, { cause: error });
  } finally {
    etcd.close();
  }
}

function bounded({ stop }: Asked): AbortSignal {
  return abortAfter(patience, stop);
}

function urlsOf({ ways }: Ways): readonly string[] {
  return ways.map(({ url }) => url);
}

/** All that is asked of etcd, behind a barrier. @throws {Refusal} without one leader that all name */
async function look(etcd: EtcdAdmin, ways: Ways, asked: Asked, clusterId: string | undefined): Promise<Look> {
  const list = await etcd.members(urlsOf(ways), { signal: bounded(asked), barrier: true });
  if (clusterId !== undefined && list.clusterId !== clusterId)
    throw new Refusal(`etcd cluster ${list.clusterId} answers, and not ${clusterId}: nothing was done`);
  const answers = await statuses(etcd, ways, asked);
  const leaders = new Set(answers.map(({ status }) => status.leader));
  const [leaderId = '0', ...others] = leaders;
  if (leaderId === '0' || others.length > 0)
    throw new Refusal('the members do not name one leader: an election is under way; try again after it');
  const leading = answers.find(({ status }) => status.memberId === leaderId);
  if (!leading)
    throw new Refusal(`the leader ${leaderId} is not reached from here${cause(ways)}: only it can hand over`);
  const members = answers.map(({ member, status }): Seen => {
    const listed = list.members.find(({ id }) => id === status.memberId);
    const lag = leading.status.raftIndex - status.raftAppliedIndex;
    const unfit = !listed
      ? 'is no member'
      : listed.isLearner || status.isLearner
        ? 'is a learner, which can not lead'
        : status.errors.length > 0
          ? `is not healthy: ${status.errors.join(', ')}`
          : lag > maxLag
            ? `is ${lag} entries behind`
            : undefined;
    return { member, status, ...(unfit !== undefined && { unfit }) };
  });
  const voters = list.members.filter(({ isLearner }) => !isLearner).length;
  return { clusterId: list.clusterId, leader: { ...leading }, members, voters };
}

function cause({ lost }: Ways): string {
  return lost.length === 0 ? '' : ` (${lost.join('; ')})`;
}

async function statuses(etcd: EtcdAdmin, { ways }: Ways, asked: Asked) {
  const asking = ways.map(async ({ member, url }) => ({
    member,
    status: await etcd.status(url, { signal: bounded(asked) }),
  }));
  const answers = await Promise.allSettled(asking);
  const broken = answers.find((one) => one.status === 'rejected' && !(one.reason instanceof EtcdError));
  if (broken?.status === 'rejected') throw broken.reason;
  return answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

function chosen({ members, leader }: Look, to: string | undefined, place: string): Seen {
  if (to !== undefined) {
    const found = members.find(({ member }) => member === to);
    const names = members.map(({ member }) => member).join(', ');
    if (!found) throw new Refusal(`no member ${to} of ${place} answers; these do: ${names}`);
    if (found.unfit !== undefined) throw new Refusal(`${to} ${found.unfit}: nothing was done`);
    return found;
  }
  const able = members.filter((one) => one.unfit === undefined && one.member !== leader.member);
  const [best] = able.toSorted((a, b) => Number(b.status.raftAppliedIndex - a.status.raftAppliedIndex));
  if (best) return best;
  const why = members.flatMap(({ member, unfit }) => (unfit === undefined ? [] : [`${member} ${unfit}`]));
  throw new Refusal(`no other healthy voter of ${place} answers${why.length > 0 ? `: ${why.join('; ')}` : ''}`);
}

/** `led`: a quorum of the voters names it. */
async function untilLeads(
  etcd: EtcdAdmin,
  ways: Ways,
  asked: Asked,
  { memberId, voters }: { readonly memberId: string; readonly voters: number },
): Promise<'led' | 'late' | 'stopped'> {
  const deadline = performance.now() + untilLed;
  while (performance.now() < deadline) {
    if (asked.stop.aborted) return 'stopped';
    const answers = await statuses(etcd, ways, asked);
    const naming = answers.filter(({ status }) => !status.isLearner && status.leader === memberId);
    if (naming.length >= quorumOf(voters)) return 'led';
    await pause(20, undefined, { signal: asked.stop }).catch(() => undefined);
  }
  return 'late';
}
