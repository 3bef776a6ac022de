import assert from 'node:assert/strict';
import { test } from 'node:test';
import { act } from '../../../reconcile/cluster/act/act.ts';
import type { ActContext } from '../../../reconcile/cluster/act/actions/context.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';

/** Members that have applied so much; each alarm list adds an entry, which the last of them applies later. */
function members(applied: bigint, { lag = 0n, onAlarms = () => {} } = {}) {
  const state = { applied, asked: 0, closed: false };
  const etcd = {
    status: async (endpoint: string) => ({
      raftAppliedIndex: endpoint === 'http://c' ? state.applied - lag : state.applied,
    }),
    alarms: async () => {
      state.asked += 1;
      state.applied += 1n;
      onAlarms();
      return [];
    },
    close: () => {
      state.closed = true;
    },
  } as unknown as EtcdAdmin;
  const endpoints = new Map(['a', 'b', 'c'].map((name) => [name, `http://${name}`]));
  return { state, way: { endpoints, connect: async () => etcd } };
}

async function advance(way: ActContext['etcd'], index: string, signal = AbortSignal.timeout(10_000)): Promise<void> {
  const action = { kind: 'advance-log', clusterId: 'c1c1', index } as const;
  const cluster = { metadata: { name: 'orders', namespace: 'shop' } };
  await act(action, { etcd: way, signal, cluster } as unknown as ActContext);
}

test('entries are added until the last member has applied the index', async () => {
  const { state, way } = members(900n, { lag: 10n });
  await advance(way, '1100');
  assert.ok(state.applied - 10n >= 1100n);
  assert.ok(state.asked < 300, `${state.asked} entries`);
  assert.ok(state.closed);
});

test('where it is applied already nothing is asked', async () => {
  const { state, way } = members(1100n);
  await advance(way, '1100');
  assert.equal(state.asked, 0);
});

test('a step that is over adds nothing any more', async () => {
  const over = new AbortController();
  const { state, way } = members(0n, { onAlarms: () => over.abort(new Error('over')) });
  await assert.rejects(advance(way, '18446744073709551615', over.signal), /over/);
  assert.ok(state.asked <= 16, `${state.asked} entries`);
  assert.ok(state.closed);
});
