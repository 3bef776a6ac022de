import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { askMetrics } from '../../../reconcile/cluster/observe/ask-metrics.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { all, healthy, noQuorum, silent, starting, withContainer, withEndpoint } from './observations.ts';

const at = new Date('2026-05-01T10:00:00Z');
const startedBefore = (ms: number) => withContainer({ state: 'running', startedAt: new Date(at.getTime() - ms) });

/** @returns the names of members that were asked for their metrics */
async function asked({ membership, slots }: Observation): Promise<readonly string[]> {
  const metrics = { memberId: 'a0', hasLeader: false, isLearner: false, applied: 0n, revision: 1n, others: [] };
  const etcd = { metrics: async () => metrics, close: () => undefined } as Partial<EtcdAdmin> as EtcdAdmin;
  const way = { endpoints: new Map<string, string>(), connect: async () => etcd };
  const { slots: told } = await askMetrics(way, { membership, slots, at }, AbortSignal.timeout(1000));
  return told.flatMap(({ name, endpoint }) =>
    endpoint.kind === 'unknown' && (endpoint.metrics ?? endpoint.atBirth) ? [name] : [],
  );
}

for (const [what, observation, names] of [
  [
    'a member of a birth that has answered no client for two minutes',
    starting(1, { every: startedBefore(120_000) }),
    1,
  ],
  ['none of a birth that has just started', starting(1, { every: startedBefore(119_999) }), 0],
  [
    'none of a birth of which it is not known since when it runs',
    starting(1, { every: withContainer({ state: 'running' }) }),
    0,
  ],
  [
    'a sealed member that answers no client, at once',
    healthy(1, { membership: noQuorum('no answer'), every: all(startedBefore(0), withEndpoint(silent)) }),
    1,
  ],
  ['none where a quorum answers', healthy(1, { every: withEndpoint(silent) }), 0],
] as const)
  test(`for its metrics is asked: ${what}`, async () => {
    assert.equal((await asked(observation)).length, names);
  });
