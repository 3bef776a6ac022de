import type { EtcdPeer } from '../../../../manifests/api/etcd-peer.ts';
import { EtcdError } from '../../../interfaces/etcd.ts';
import type { Alarm } from '../../../interfaces/etcd-admin.ts';
import { resources } from '../../../interfaces/kube.ts';
import { conflict, refusedByEtcd, unreachable } from '../../../requests/refusals.ts';
import { moved } from '../../know/outcome.ts';
import { withDefragmented } from '../../know/space/defragmented.ts';
import { requireOneHash } from '../same-data.ts';
import type { DatabaseSeen } from './host.ts';
import { type Live, writeBack } from './live.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';
import { requireAnswers, requireNoneSilent, requireServed } from './served.ts';

/** What etcd keeps, how much room that takes, the alarms that it raises, and how far its log goes. */

interface OfCluster {
  readonly clusterId: string;
}

/**
 * How long a change of the database is waited for; etcd goes on by itself, and the next step sees what came of it.
 * Milliseconds.
 */
const timeoutMs = 10_000;
/** How long one step adds entries, in milliseconds: well within its lease. */
const patienceMs = 8_000;
/** Asked at once, so that one write to the disk takes several of them. */
const sideBySide = 16;

/** Of all members that could be asked. @throws {StepError | EtcdError} when one of them does not answer. */
export const askSizes = defineRequest('askSizes', {
  words: () => 'asks every member for the size of its database',
  live: async (_: Record<string, never>, { etcdNow, signal }): Promise<readonly DatabaseSeen[]> => {
    const { etcd, endpoints } = await etcdNow();
    const answers = await Promise.all(endpoints.map((endpoint) => etcd.status(endpoint, { signal })));
    return answers.map(({ memberId, clusterId, dbSize }) => ({ memberId, clusterId, size: Number(dbSize) }));
  },
  model: (state, _, host) => {
    requireNoneSilent(state, host);
    return { state, answer: host.space.sizes(state) };
  },
});

/** All that are raised. */
export const listAlarms = defineRequest('listAlarms', {
  words: () => 'lists the alarms',
  live: async ({ clusterId }: OfCluster, { etcdNow, signal }): Promise<readonly Alarm[]> => {
    const { etcd, endpoints } = await etcdNow();
    return etcd.alarms(endpoints, { signal, clusterId });
  },
  model: (state, { clusterId }, host) => {
    requireServed(state, clusterId, host, 'question');
    return { state, answer: host.space.alarms(state) };
  },
});

/** Takes one alarm back. etcd does not look whether its cause is gone. */
export const disarm = defineRequest('disarm', {
  words: ({ alarm: { alarm, memberId } }: OfCluster & { readonly alarm: Alarm }) =>
    `takes ${alarm} of ${memberId} back`,
  writes: () => ({ fence: 'none' }),
  live: async ({ clusterId, alarm }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    await etcd.disarm(endpoints, alarm, { signal, clusterId });
  },
  model: (state, { clusterId, alarm }, host) => {
    requireServed(state, clusterId, host, 'change');
    return { state: host.space.disarm(state, alarm), answer: undefined };
  },
});

/** Forgets what keys were before a revision. Done already is done. */
export const compactTo = defineRequest('compactTo', {
  words: ({ revision }: OfCluster & { readonly revision: string }) => `compacts all history before ${revision}`,
  writes: () => ({ fence: 'none' }),
  live: async ({ clusterId, revision }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    try {
      await etcd.compact(endpoints, BigInt(revision), { signal, clusterId, timeoutMs });
    } catch (error) {
      if (!(error instanceof EtcdError) || error.reason !== 'Compacted') throw error;
    }
  },
  model: (state, { clusterId, revision }, host) => {
    requireServed(state, clusterId, host, 'change');
    return { state: host.space.compact(state, revision), answer: undefined };
  },
});

interface OneMember {
  readonly name: string;
  readonly memberId: string;
}

/**
 * Lets one member rewrite its database. The member answers no requests meanwhile.
 *
 * @returns the size of its database afterwards, in bytes.
 */
export const defragment = defineRequest('defragment', {
  words: ({ name }: OneMember) => `lets ${name} rewrite its database`,
  writes: ({ name }) => ({ fence: 'none', name }),
  live: async ({ name, memberId }, { etcd: { endpoints }, etcdNow, signal }): Promise<number> => {
    const endpoint = endpoints.get(name);
    if (endpoint === undefined) throw moved(`${name} does not run any more`);
    const { etcd } = await etcdNow();
    await etcd.defragment(endpoint, { signal, memberId, timeoutMs });
    return Number((await etcd.status(endpoint, { signal })).dbSize);
  },
  model: (state, { name, memberId }, host) => {
    const found = host.etcd.members(state).find((one) => one.name === name);
    if (!found) throw host.etcd.silent(state).includes(name) ? unreachable() : moved(`${name} does not run any more`);
    if (found.memberId !== memberId) throw refusedByEtcd('AnotherMember', `${found.memberId} lives there`);
    const after = host.space.defragment(state, memberId);
    return { state: after, answer: host.space.sizes(after).find((one) => one.memberId === memberId)?.size ?? 0 };
  },
});

/** What a peer remembers of its member's last defragmentation: times as text, revisions in decimal. */
interface Mark {
  readonly at: string;
  readonly vain: number;
  readonly bareAt?: string;
}

export const noteDefragmented = defineRequest('noteDefragmented', {
  words: ({ readAt: { name }, mark: { vain } }: { readonly readAt: ReadAt; readonly mark: Mark }) =>
    `notes on peer ${name} that it was defragmented, ${vain} times without gain`,
  writes: ({ readAt: { name } }) => ({ fence: 'version', object: 'peer', name }),
  live: async ({ readAt, mark }, live): Promise<void> => {
    const wanted = withDefragmented(live.kept<EtcdPeer>(readAt), asMarked(mark));
    await writeBack<EtcdPeer>(live, resources.peers, wanted);
  },
  model: (state, { readAt, mark }, host) => {
    const { name } = readAt;
    const found = host.get(state, name, 'peer');
    if (!found || !host.isCurrent(readAt)) throw conflict(`peer ${name} has changed since it was read`);
    return { state: host.put(state, name, 'peer', { ...found, defragmented: asMarked(mark) }), answer: undefined };
  },
});

function asMarked({ at, vain, bareAt }: Mark) {
  return { at: new Date(at), vain, ...(bareAt !== undefined && { bareAt: BigInt(bareAt) }) };
}

/** Each of these answers for itself, and all hold the same keys at this revision. @throws {StepError} otherwise. */
export const requireSameData = defineRequest('requireSameData', {
  words: ({ revision }: OfCluster & { readonly revision: string; readonly memberIds: readonly string[] }) =>
    `sees that all voters hold the same at revision ${revision}`,
  live: async ({ clusterId, revision, memberIds }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    await requireOneHash(etcd, endpoints, { clusterId, memberIds, revision: BigInt(revision), signal });
  },
  // A plan takes the hashes as they were observed, and the search knows of no corruption.
  model: (state, asked, host) => {
    requireAnswers(state, asked, host);
    return { state, answer: undefined };
  },
});

/**
 * Adds entries that change nothing to raft's log, until every member has applied this index, or for as long as one step
 * may take: then the next one goes on with it. Listing the alarms is a proposal of its own and changes nothing (on 3.5,
 * 3.6 and 3.7).
 */
export const addEntries = defineRequest('addEntries', {
  words: () => "adds entries that change nothing to raft's log",
  writes: () => ({ fence: 'none' }),
  live: async ({ clusterId, index }: OfCluster & { readonly index: string }, live): Promise<void> => {
    const wanted = BigInt(index);
    const until = performance.now() + patienceMs;
    for (let missing = wanted - (await applied(live)); missing > 0n; missing = wanted - (await applied(live))) {
      for (let sent = 0; BigInt(sent) < missing; sent += sideBySide) {
        if (performance.now() > until) return;
        await addSome(clusterId, live);
      }
    }
  },
  model: (state, { clusterId, index }, host) => {
    requireNoneSilent(state, host);
    const after = host.etcd.advance(state, index);
    if (after !== state || host.etcd.members(state).length === 0) requireServed(state, clusterId, host, 'question');
    return { state: after, answer: undefined };
  },
});

/** By the member that is furthest behind. */
async function applied({ etcdNow, signal }: Live): Promise<bigint> {
  const { etcd, endpoints } = await etcdNow();
  const asked = await Promise.all(endpoints.map((endpoint) => etcd.status(endpoint, { signal })));
  return asked.map(({ raftAppliedIndex }) => raftAppliedIndex).toSorted((a, b) => Number(a - b))[0] ?? 0n;
}

async function addSome(clusterId: string, { etcdNow, signal }: Live): Promise<void> {
  signal.throwIfAborted();
  const { etcd, endpoints } = await etcdNow();
  await Promise.all(Array.from({ length: sideBySide }, () => etcd.alarms(endpoints, { signal, clusterId })));
}
