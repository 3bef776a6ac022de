import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askEtcd, endpointOf } from '../../../reconcile/cluster/observe/ask-etcd.ts';
import { type Etcd, EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import { type Differences, endpoint, healthy, members, withInputs } from './observations.ts';

/** Answers what three well members answer, and counts what it was asked for the cluster version. */
function answering(version: () => string) {
  let asked = 0;
  const etcd: Etcd = {
    members: async () => members(3),
    lastMembers: async () => members(3),
    status: async (url) => {
      const found = endpoint(Number(url.at(-6)));
      return found.kind === 'known' ? found.status : assert.fail(url);
    },
    version: async () => {
      asked += 1;
      return { server: '3.6.16', cluster: version() };
    },
    metrics: async (url) => assert.fail(url),
    counters: async (url) => assert.fail(url),
    close: () => {},
  };
  return { connect: async () => etcd, asked: () => asked };
}

async function versionOf(differences: Differences, told: () => string = () => '3.6.0') {
  const { connect, asked } = answering(told);
  const { clusterVersion } = await askEtcd(connect, healthy(3, differences), AbortSignal.timeout(5_000));
  return { clusterVersion, asked: asked() };
}

const settled = { observedGeneration: 3, clusterVersion: '3.6.0' };

describe('the cluster version', () => {
  test('is not asked for again where all members are on the minor that it had reached', async () => {
    assert.deepEqual(await versionOf({ status: settled }), { clusterVersion: '3.6.0', asked: 0 });
  });

  for (const [when, differences] of [
    ['nobody has told it yet', {}],
    ['another minor is asked for', { status: settled, spec: { version: '3.7.3' } }],
    ['some member is on another minor', { status: settled, slots: { 1: withInputs({ version: '3.5.35' }) } }],
    ['it was another one', { status: { ...settled, clusterVersion: '3.5.0' } }],
  ] as const) {
    test(`is asked for when ${when}`, async () => {
      assert.deepEqual(await versionOf(differences), { clusterVersion: '3.6.0', asked: 1 });
    });
  }

  test('is unknown while no leader has decided it, and where no member tells it', async () => {
    assert.equal((await versionOf({}, () => 'not_decided')).clusterVersion, undefined);
    const silent = () => {
      throw new EtcdError('GET /version: no answer', 'down');
    };
    assert.deepEqual(await versionOf({}, silent), { clusterVersion: undefined, asked: 3 });
  });
});

test('a member is asked at the address of its pod, of whichever family that is', () => {
  const [slot = assert.fail()] = healthy(1).slots;
  const at = (address: string) => endpointOf({ ...slot, pod: { ...(slot.pod ?? assert.fail()), address } });
  assert.equal(new URL(at('10.244.1.2')).host, '10.244.1.2:2379');
  assert.equal(new URL(at('fd00:244::1:2')).host, '[fd00:244::1:2]:2379');
});

test('what members knew last is asked for also when the wait for a quorum has used up its time', async () => {
  const { connect } = answering(() => '3.6.0');
  const silent = async () => ({
    ...(await connect()),
    members: (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new EtcdError('no quorum', 'down')), { once: true });
      }),
    lastMembers: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      signal.throwIfAborted();
      return members(3);
    },
  });
  const { membership } = await askEtcd(silent, healthy(3), new AbortController().signal);
  assert.ok(membership.kind === 'unknown');
  assert.equal(membership.last?.length, 3);
});
