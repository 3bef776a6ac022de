import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHolders } from '../../../functions/serve/events/holders.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { takeLease } from '../../../reconcile/cluster/act/lease.ts';
import type { Holder } from '../../../reconcile/cluster/know/holder.ts';
import { readLease } from '../../../reconcile/cluster/observe/lease.ts';
import { fenced } from '../../../reconcile/cluster/write-fence.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { StepError } from '../../../reconcile/requests/refusals.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { healthy } from './observations.ts';

const action = { kind: 'start-members', peers: ['orders-0'] } as const;
const holder = { pod: 'etcd-ratchet/tick-1', uid: 'uid-1' };
const other = { pod: 'etcd-ratchet/tick-2', uid: 'uid-2' };
const now = new Date('2026-01-02T03:04:05Z');
const { signal } = new AbortController();

describe('a lease', () => {
  test("of another request in the same pod is held, and over once that pod's containers have ended", async () => {
    const kube = withCluster();
    const [mine, neighbour] = ['uid-1/mine', 'uid-1/neighbour'].map((uid) => ({ pod: holder.pod, uid }));
    assert.ok(mine && neighbour);
    await takeLease(kube, stored(kube), { action, reason: 'StartingMembers', holder: neighbour, now }, signal);
    kube.seed(resources.pods, podOf({ uid: 'uid-1', ended: [false] }));
    assert.equal((await read(kube, mine, now)).kind, 'held');
    kube.seed(resources.pods, podOf({ uid: 'uid-1', ended: [true] }));
    assert.equal((await read(kube, mine, now)).kind, 'abandoned');
  });

  test('of an ended request of this process is abandoned at once, of a running one it is held', async () => {
    const kube = withCluster();
    const requests = createHolders(holder);
    using mine = requests.enter();
    using neighbour = requests.enter();
    await takeLease(kube, stored(kube), { action, reason: 'StartingMembers', holder: neighbour, now }, signal);
    assert.equal((await read(kube, mine, now)).kind, 'held');
    neighbour[Symbol.dispose]();
    assert.equal((await read(kube, mine, now)).kind, 'abandoned');
    assert.equal(
      (await read(kube, createHolders(other).enter(), now)).kind,
      'held',
      'another process knows nothing of it',
    );
  });

  test('is written with the whole action, and may be read by others', async () => {
    const kube = withCluster();
    const leased = await takeLease(kube, stored(kube), { action, reason: 'StartingMembers', holder, now }, signal);
    assert.partialDeepStrictEqual(leased?.status?.step, {
      action: 'start-members',
      target: 'orders-0',
      parameters: action,
      holder,
    });
    assert.deepEqual(await read(kube, other, now), {
      kind: 'held',
      holder: holder.pod,
      until: new Date(now.getTime() + 30_000),
    });
  });

  test('of two from one observation is given once', async () => {
    const kube = withCluster();
    const observed = stored(kube);
    const claims = await Promise.all(
      [holder, other].map((mine) =>
        takeLease(kube, observed, { action, reason: 'StartingMembers', holder: mine, now }, signal),
      ),
    );
    assert.equal(claims.filter((leased) => leased !== undefined).length, 1);
  });

  test('is not given when the spec moved, or the resource is gone', async () => {
    const kube = withCluster();
    const observed = stored(kube);
    await kube.update<EtcdCluster>(resources.clusters, { ...observed, spec: { ...observed.spec, replicas: 5 } });
    assert.equal(
      await takeLease(kube, observed, { action, reason: 'StartingMembers', holder, now }, signal),
      undefined,
    );
    kube.remove(resources.clusters, 'shop', 'orders');
    assert.equal(
      await takeLease(kube, observed, { action, reason: 'StartingMembers', holder, now }, signal),
      undefined,
    );
  });

  for (const [what, reader, seconds, pod, expected] of [
    ['is held until its deadline', other, 20, undefined, 'held'],
    ['is held for a margin more, for clocks and for requests under way', other, 30, undefined, 'held'],
    ['is abandoned after that', other, 31, undefined, 'abandoned'],
    ['of our own was ours and is over', holder, 1, undefined, 'abandoned'],
    ['of a pod that is merely gone is held: it may still run', other, 1, undefined, 'held'],
    ['of a pod that ended is abandoned at once', other, 1, { uid: holder.uid, ended: [true, true] }, 'abandoned'],
    ['of a pod of which one container runs is held', other, 1, { uid: holder.uid, ended: [true, false] }, 'held'],
    ['of a pod whose namesake ended is held', other, 1, { uid: 'again', ended: [true] }, 'held'],
    ['of a pod that has not begun is held', other, 1, { uid: holder.uid, ended: [] }, 'held'],
  ] as const) {
    test(what, async () => {
      const kube = withCluster();
      await takeLease(kube, stored(kube), { action, reason: 'StartingMembers', holder, now }, signal);
      if (pod) kube.seed(resources.pods, podOf(pod));
      const found = await read(kube, reader, new Date(now.getTime() + seconds * 1000));
      assert.equal(found.kind, expected);
    });
  }

  test('that was abandoned passes its action on, as it was written', async () => {
    const kube = withCluster();
    await takeLease(kube, stored(kube), { action, reason: 'StartingMembers', holder, now }, signal);
    const found = await read(kube, other, new Date(now.getTime() + 60_000));
    assert.deepEqual(found, { kind: 'abandoned', holder: holder.pod, action });
  });

  test('is free where no step is written', async () => {
    assert.deepEqual(await read(withCluster(), other, now), { kind: 'free' });
  });

  test('ends by its deadline also where we may not read pods', async () => {
    const kube = withCluster(({ resource }) => resource.plural !== 'pods');
    await takeLease(kube, stored(kube), { action, reason: 'StartingMembers', holder, now }, signal);
    assert.equal((await read(kube, other, now)).kind, 'held');
  });
});

describe('the fence of a lease', () => {
  const target = healthy(1).cluster;

  test('lets writes through before the deadline, and none after it', async () => {
    const kube = createFakeKube();
    await fenced(kube, signal, performance.now() + 60_000).create(resources.clusters, withoutUid(target));
    await assert.rejects(
      fenced(kube, signal, performance.now() - 1).create(resources.clusters, {
        ...target,
        metadata: { name: 'two', namespace: 'shop' },
      }),
      (error) => error instanceof StepError && error.failure.reason === 'ClaimEnded',
    );
    assert.equal(kube.stored(resources.clusters).length, 1);
  });

  test('holds for every kind of write, under every name', async () => {
    const kube = createFakeKube();
    for (const late of [fenced(kube, signal, 0), fenced(kube, signal, 0).as({ namespace: 'shop', name: 'somebody' })]) {
      const found = { ...target, metadata: { ...target.metadata, resourceVersion: '1' } };
      for (const write of [
        () => late.create(resources.clusters, target),
        () => late.update(resources.clusters, found),
        () => late.updateStatus(resources.clusters, found),
        () => late.apply(resources.clusters, target, { fieldManager: 'x' }),
        () => late.delete(resources.clusters, 'shop', 'orders', { preconditions: { uid: 'x' } }),
        () => late.evict('shop', 'orders-0-0', { preconditions: { uid: 'x' } }),
      ]) {
        await assert.rejects(write, StepError);
      }
    }
    assert.deepEqual(kube.journal(), []);
  });

  test('is closed by the signal as well, and reading stays open', async () => {
    const kube = createFakeKube();
    const late = fenced(kube, AbortSignal.abort(), performance.now() + 60_000);
    await assert.rejects(late.create(resources.clusters, target), StepError);
    assert.equal(await late.get(resources.clusters, 'shop', 'orders'), undefined);
  });
});

function withCluster(authorize?: NonNullable<Parameters<typeof createFakeKube>[0]>['authorize']): FakeKube {
  const kube = createFakeKube(authorize && { authorize });
  kube.seed(resources.clusters, healthy(1).cluster);
  return kube;
}

function stored(kube: FakeKube): EtcdCluster {
  return kube.stored<EtcdCluster>(resources.clusters)[0] ?? assert.fail('no cluster');
}

function read(kube: FakeKube, mine: Holder, at: Date) {
  return readLease(kube, stored(kube), { now: at, holder: mine, signal });
}

function podOf({ uid, ended }: { uid: string; ended: readonly boolean[] }): Pod {
  return {
    metadata: { name: 'tick-1', namespace: 'etcd-ratchet', uid },
    spec: { containers: [] },
    status: {
      containerStatuses: ended.map((over, index) => ({
        name: `c${index}`,
        ready: false,
        restartCount: 0,
        state: over ? { terminated: { exitCode: 0 } } : { running: {} },
      })),
    },
  };
}

function withoutUid({ metadata, ...rest }: EtcdCluster): EtcdCluster {
  return { ...rest, metadata: { name: metadata.name, namespace: 'shop' } };
}
