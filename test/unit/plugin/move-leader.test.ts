import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kubectl, Reach } from '../../../functions/plugin/command.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import type { EndpointStatus } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { noKubectl, saidOn } from '../../support/plugin/said.ts';
import { bornWith } from '../../support/world/born.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { wireOf } from '../../support/world/wire.ts';
import { name, namespace, type World } from '../../support/world/world.ts';

interface Scene {
  /** What one member says, instead of what is so. */
  readonly says?: (status: EndpointStatus, look: number) => EndpointStatus;
  readonly unreached?: readonly string[];
  readonly onMembers?: (look: number) => void;
  readonly onMove?: () => void;
  readonly stop?: AbortSignal;
}

/** Ports of this machine lead to the members of the world. */
async function moved(world: World, args: readonly string[] = [], scene: Scene = {}) {
  const { says, unreached = [], onMembers, onMove, stop } = scene;
  const urls = new Map<string, string>();
  const released: number[] = [];
  const kubectl: Kubectl = {
    ...noKubectl,
    forward: async ({ pod }) => {
      if (unreached.includes(pod)) return noKubectl.forward({ namespace, pod, port: 2379 }, AbortSignal.timeout(1));
      const port = 40_000 + urls.size;
      const found = world.kube.stored<Pod>(resources.pods).find(({ metadata }) => metadata.name === pod);
      urls.set(`http://127.0.0.1:${port}`, `http://${found?.status?.podIP}:2379`);
      return { port, [Symbol.dispose]: () => void released.push(port) };
    },
  };
  const there = (urls_: readonly string[]) => urls_.map((url) => urls.get(url) ?? url);
  const calls: string[] = [];
  let looks = 0;
  const etcd: Reach['etcd'] = async () => {
    const real = etcdOf(world.state);
    return {
      ...real,
      members: (endpoints, options) => {
        looks += 1;
        onMembers?.(looks);
        return real.members(there(endpoints), options);
      },
      status: async (url, options) => {
        const status = await real.status(there([url])[0] ?? url, options);
        return says?.(status, looks) ?? status;
      },
      moveLeader: (endpoints, id, options) => {
        calls.push(id);
        onMove?.();
        return real.moveLeader(there(endpoints), id, options);
      },
    } satisfies EtcdAdmin;
  };
  const reach = { etcd, wire: wireOf(world.state) };
  const terminal = stop ? { stop } : {};
  const said = await saidOn(world.kube, ['move-leader', name, ...args], terminal, { namespace, reach, kubectl });
  assert.equal(released.length, urls.size, 'every way is given back');
  return { ...said, calls };
}

async function born(): Promise<World> {
  return bornWith({ replicas: 3, tls: { mode: 'Disabled' } });
}

const idsOf = (world: World) => new Map((world.cluster()?.status?.members ?? []).map((one) => [one.name, one.id]));

test('another healthy voter leads, and the person reads how long there was no leader', async () => {
  const world = await born();
  const { leader = '' } = world.cluster()?.status ?? {};
  const { code, out, err, calls } = await moved(world, ['-o', 'json']);
  assert.equal(code, 0, err);
  const { from, to, milliseconds } = JSON.parse(out);
  assert.equal(from, leader);
  assert.notEqual(to, leader);
  assert.deepEqual(calls, [idsOf(world).get(to)]);
  assert.ok(milliseconds >= 0);
  const again = await moved(world, ['--to', to]);
  assert.match(again.out, new RegExp(`^${to} leads shop/orders already: nothing was done\n$`));
  assert.deepEqual([again.code, again.calls], [0, []]);
});

for (const [title, change, message] of [
  ['a learner', { isLearner: true }, /is a learner, which can not lead: nothing was done/],
  ['not healthy', { errors: ['NOSPACE'] }, /is not healthy: NOSPACE: nothing was done/],
  ['behind', { raftAppliedIndex: -6000n }, /is \d+ entries behind: nothing was done/],
] as const)
  test(`a member that is ${title} is not made the leader`, async () => {
    const world = await born();
    const to = follower(world);
    const id = idsOf(world).get(to);
    const says = (status: EndpointStatus) => (status.memberId === id ? { ...status, ...change } : status);
    const { code, err, calls } = await moved(world, ['--to', to], { says });
    assert.deepEqual([code, calls], [1, []]);
    assert.match(err, message);
    const other = await moved(world, ['-o', 'json'], { says });
    assert.notEqual(JSON.parse(other.out).to, to, 'without --to another one is chosen');
  });

test('a target that became ill between the look and the deed is refused just before it', async () => {
  const world = await born();
  const to = follower(world);
  const id = idsOf(world).get(to);
  const says = (status: EndpointStatus, look: number) =>
    status.memberId === id && look > 1 ? { ...status, errors: ['CORRUPT'] } : status;
  const { code, err, calls } = await moved(world, ['--to', to], { says });
  assert.deepEqual([code, calls], [1, []]);
  assert.match(err, /is not healthy: CORRUPT/);
});

test('a step of etcd-ratchet that begins meanwhile is not disturbed', async () => {
  const world = await born();
  const onMembers = () => {
    const cluster = world.cluster() ?? assert.fail();
    const step = {
      ...{ action: 'restart-member', reason: 'Rolling', startedAt: '2026-05-01T10:00:00Z' },
      ...{ holder: { pod: 'tick', uid: 't' }, deadline: '2026-05-01T10:01:00Z' },
    };
    world.kube.seed(resources.clusters, { ...cluster, status: { ...cluster.status, step } } as typeof cluster);
  };
  const { code, err, calls } = await moved(world, [], { onMembers });
  assert.deepEqual([code, calls], [1, []]);
  assert.match(err, /is taking a step \(restart-member\): try again when it is over/);
});

test('without a way to the leader, or to any member, nothing is done', async () => {
  const world = await born();
  const { leader = '' } = world.cluster()?.status ?? {};
  const { code, err } = await moved(world, [], { unreached: [`${leader}-0`] });
  assert.equal(code, 1);
  assert.match(err, /the leader [0-9a-f]+ is not reached from here \(no way to /);
  const pods = ['orders-0-0', 'orders-1-0', 'orders-2-0'];
  assert.match((await moved(world, [], { unreached: pods })).err, /no member of shop\/orders is reached: no way to/);
});

test('another etcd cluster behind the ways is left alone', async () => {
  const world = await born();
  const cluster = world.cluster() ?? assert.fail();
  const status = { ...cluster.status, clusterID: 'cdf8' };
  world.kube.seed(resources.clusters, { ...cluster, status } as typeof cluster);
  const { code, err, calls } = await moved(world);
  assert.deepEqual([code, calls], [1, []]);
  assert.match(err, /etcd cluster [0-9a-f]+ answers, and not cdf8: nothing was done/);
});

test('while members name different leaders, or none, nothing is done', async () => {
  for (const leader of ['0', 'f00d']) {
    const world = await born();
    const id = idsOf(world).get(follower(world));
    const says = (status: EndpointStatus) =>
      leader === '0' || status.memberId === id ? { ...status, leader } : status;
    const { code, err, calls } = await moved(world, [], { says });
    assert.deepEqual([code, calls], [1, []]);
    assert.match(err, /the members do not name one leader: an election is under way/);
  }
});

test('who leads is what a quorum says; a person who stops the wait reads what is unknown', async () => {
  const world = await born();
  const to = follower(world);
  const id = idsOf(world).get(to);
  const { leader: before = '' } = world.cluster()?.status ?? {};
  const stopping = new AbortController();
  let [isMoved, asked] = [false, 0];
  const says = (status: EndpointStatus) => {
    if (!isMoved) return status;
    asked += 1;
    if (asked > 9) stopping.abort();
    return status.memberId === id ? status : { ...status, leader: idsOf(world).get(before) ?? '' };
  };
  const onMove = () => {
    isMoved = true;
  };
  const { code, out, err } = await moved(world, ['--to', to], { says, onMove, stop: stopping.signal });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, new RegExp(`stopped: ${to} was asked to lead shop/orders, and whether it does, only a look tells`));
});

test('a member that is not there is named with those that answer', async () => {
  const { code, err } = await moved(await born(), ['--to', 'orders-9']);
  assert.equal(code, 1);
  assert.match(err, /no member orders-9 of shop\/orders answers; these do: orders-0, orders-1, orders-2/);
});

function follower(world: World): string {
  const { leader, members = [] } = world.cluster()?.status ?? {};
  return members.find((one) => one.name !== leader)?.name ?? assert.fail('there is no follower');
}
