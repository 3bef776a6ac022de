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

interface Signalled {
  readonly signal: AbortSignal;
}

/** Never answers: it is waited for until the time is over. */
const silence = (_: unknown, { signal }: Signalled) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new EtcdError('silent', 'down')), { once: true });
  });

for (const [what, status, isAsked] of [
  ['one member says how it is', undefined, true],
  ['one member refuses to', () => Promise.reject(new EtcdError('no user', 'refused')), true],
  ['no member says anything', silence, false],
] as const) {
  const fate = isAsked ? 'asked for' : 'not asked for';
  test(`a wait for a quorum is in vain, and ${what}: the last list is ${fate}`, async () => {
    const { connect } = answering(() => '3.6.0');
    let asked = 0;
    const waiting = async () => {
      const etcd = await connect();
      const answer = status ?? etcd.status;
      return {
        ...etcd,
        members: silence,
        status: (url: string, options: Signalled) =>
          url.includes('10.244.0.1') || !isAsked ? answer(url, options) : silence(url, options),
        lastMembers: async (_: unknown, { signal }: Signalled) => {
          signal.throwIfAborted();
          asked += 1;
          return members(3);
        },
      };
    };
    const { membership } = await askEtcd(waiting, healthy(3), new AbortController().signal);
    assert.ok(membership.kind === 'unknown');
    assert.deepEqual([asked, membership.last?.length], isAsked ? [1, 3] : [0, undefined]);
  });
}
