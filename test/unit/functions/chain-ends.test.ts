import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chainLabel, followUpLabel, type Job, linksOf } from '../../../functions/pass/follow-up/chain.ts';
import { onePass } from '../../../functions/pass/one-pass.ts';
import type { TickOptions } from '../../../functions/tick/options.ts';
import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { tickOptions } from '../../support/world/passing.ts';
import { wireOf } from '../../support/world/wire.ts';
import { createWorld, namespace, type World } from '../../support/world/world.ts';
import { cronJob, env } from '../serve/installation.ts';

/**
 * A push meets a chain of follow-ups that is just ending: at each request of the chain's last link the push's
 * invocation runs, and the other way round. No tick comes. Whoever is last must leave a follow-up that sees the push,
 * and only one that goes on.
 */

const cronJobName = { namespace: cronJob.metadata.namespace ?? '', name: cronJob.metadata.name };

/** The clusters, and beside them the Jobs of the installation. */
interface Stage {
  readonly world: World;
  readonly own: FakeKube;
}

type At = (request: number) => Promise<void>;
type Chain = { readonly chain: string; readonly number: number };

let invocations = 0;

/** One invocation, as a process: it may be held before any of its requests, or killed there. */
async function invocation(
  { world, own }: Stage,
  how: Partial<TickOptions>,
  at: At = async () => undefined,
): Promise<number> {
  let requests = 0;
  invocations += 1;
  const id = `i${invocations}`;
  const held =
    <A extends readonly unknown[], R>(call: (api: FakeKube) => (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      requests += 1;
      await at(requests);
      return call(args[0] === resources.jobs || args[0] === resources.cronJobs ? own : world.kube)(...args);
    };
  const kube: Kube = {
    ...world.kube,
    list: held((api) => api.list) as Kube['list'],
    get: held((api) => api.get) as Kube['get'],
    create: held((api) => api.create) as Kube['create'],
    update: held((api) => api.update) as Kube['update'],
    updateStatus: held((api) => api.updateStatus) as Kube['updateStatus'],
    apply: held((api) => api.apply) as Kube['apply'],
  };
  await onePass(
    { ...tickOptions, ...how },
    {
      kube,
      cronJob: cronJobName,
      env,
      namespace,
      clusters: [],
      etcd: async (tls) => etcdOf(world.state, tls),
      wire: wireOf(world.state),
      holder: { pod: `etcd-ratchet/${id}`, uid: id },
      nonce: () => id.padEnd(32, 'f'),
      log: () => undefined,
      signal: AbortSignal.timeout(20_000),
      deadline: Date.now() + 20_000,
    },
  );
  return requests;
}

function jobOf({ chain, number }: Chain): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `etcd-ratchet-${chain}-${number}`,
      namespace: cronJobName.namespace,
      labels: { [followUpLabel]: 'true', [chainLabel]: chain },
    },
  };
}

function ended({ own }: Stage, job: Job, how: 'Complete' | 'Failed'): void {
  own.seed(resources.jobs, { ...job, status: { conditions: [{ type: how, status: 'True' }] } } as Job);
}

function underWay({ own }: Stage): readonly Job[] {
  return own.stored<Job>(resources.jobs).filter(({ status }) => !status?.conditions);
}

const link: Chain = { chain: 'old', number: 3 };

/** An installation in whose chain one link is under way. */
async function installed(what: (world: World) => Promise<void>): Promise<Stage> {
  const world = createWorld();
  await what(world);
  const own = createFakeKube({ clock: () => new Date(world.now()) });
  own.seed(resources.cronJobs, cronJob);
  await own.create(resources.jobs, jobOf(link));
  return { world, own };
}

/** Nothing remains that the link could wait for. */
async function idle(): Promise<void> {}

/** It waits for members that have not started for hours. */
async function waitingInVain(world: World): Promise<void> {
  await world.apply();
  while ((await world.tick())?.decision.kind === 'act');
  world.advance(3600);
}

async function push({ world: { kube } }: Stage): Promise<void> {
  const spec = { replicas: 1, version: '3.6.16', storage: { size: '1Gi' }, tls: { mode: 'Disabled' as const } };
  const object = { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdCluster', metadata: { name: 'ads', namespace } };
  await kube.create<EtcdCluster>(resources.clusters, withDefaults({ ...object, spec } as EtcdCluster));
}

/** Runs what was left to follow-ups, one after the other, and nothing else. */
async function ran(stage: Stage): Promise<EtcdCluster | undefined> {
  const { world } = stage;
  for (let count = 0; ; count += 1) {
    assert.ok(count < 30, 'the chain ends');
    world.settle();
    world.advance(1);
    const [job] = underWay(stage);
    if (!job) break;
    const [followUp] = linksOf([job]);
    assert.ok(followUp);
    await invocation(stage, { followUp, wait: 0.2 });
    ended(stage, job, 'Complete');
  }
  return world.kube.stored<EtcdCluster>(resources.clusters).find(({ metadata }) => metadata.name === 'ads');
}

/** Holds an invocation before one of its requests, until it may go on or is killed there. */
function hold(request: number) {
  const reached = Promise.withResolvers<'held'>();
  const released = Promise.withResolvers<void>();
  const dead = new KubeError('killed', { class: 'terminal', reason: 'Dead' });
  let isDead = false;
  // Nothing may have been reached that it could be held at.
  released.promise.catch(() => undefined);
  return {
    at: async (now: number) => {
      if (isDead) throw dead;
      if (now !== request) return;
      reached.resolve('held');
      await released.promise;
    },
    reached: reached.promise,
    goOn: () => released.resolve(),
    kill: () => {
      isDead = true;
      released.reject(dead);
    },
  };
}

/** Resolves when it has ended, in whatever way. */
async function over(process: Promise<unknown>): Promise<void> {
  await process.catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
  });
}

function assertOneGoesOn(stage: Stage, place: string): void {
  const links = linksOf(underWay(stage)).filter(({ chain, number }) => chain !== link.chain || number !== link.number);
  assert.equal(links.length > 0, true, `${place}: nothing goes on`);
  assert.equal(new Set(links.map(({ chain }) => chain)).size, 1, `${place}: one chain`);
}

for (const [what, before] of [
  ['has nothing left to do', idle],
  ['has waited in vain for hours', waitingInVain],
] as const) {
  for (const fate of ['goes on', 'is killed'] as const) {
    test(`a push is carried out that meets a link which ${what}, and ${fate} at any request`, async () => {
      let places = 0;
      for (let request = 1; ; request += 1) {
        const stage = await installed(before);
        const held = hold(request);
        const process = invocation(stage, { followUp: link, wait: 0.02 }, held.at);
        const isOver = (await Promise.race([held.reached, over(process)])) !== 'held';
        await push(stage);
        await invocation(stage, {});
        if (fate === 'is killed') held.kill();
        else held.goOn();
        await over(process);
        ended(stage, jobOf(link), fate === 'is killed' ? 'Failed' : 'Complete');
        assertOneGoesOn(stage, `request ${request}`);
        assert.equal((await ran(stage))?.status?.lastDecision?.reason, 'Converged', `request ${request}`);
        places += 1;
        if (isOver) break;
      }
      assert.ok(places > 4, `${places} places`);
    });
  }

  for (const fate of ['looks', 'has looked', 'is killed'] as const) {
    test(`a push is carried out whose chain ${what}, and ${fate} while the push is at any request`, async () => {
      let places = 0;
      for (let request = 1; ; request += 1) {
        const stage = await installed(before);
        const chain = hold(fate === 'has looked' ? Number.POSITIVE_INFINITY : 1);
        const process = invocation(stage, { followUp: link, wait: 0.02 }, chain.at);
        if (fate === 'has looked') await process;
        await push(stage);
        const held = hold(request);
        const pushed = invocation(stage, {}, held.at);
        const isOver = (await Promise.race([held.reached, over(pushed)])) !== 'held';
        if (fate === 'is killed') chain.kill();
        else chain.goOn();
        await over(process);
        ended(stage, jobOf(link), fate === 'is killed' ? 'Failed' : 'Complete');
        held.goOn();
        await pushed;
        assertOneGoesOn(stage, `request ${request}`);
        assert.equal((await ran(stage))?.status?.lastDecision?.reason, 'Converged', `request ${request}`);
        places += 1;
        if (isOver) break;
      }
      assert.ok(places > 8, `${places} places`);
    });
  }
}

test('a push beside a waiting link leaves one chain: the older link ends at its next look', async () => {
  const stage = await installed(waitingInVain);
  const looks: number[] = [];
  const process = invocation(stage, { followUp: link, wait: 5 }, async (request) => void looks.push(request));
  while (looks.length < 8) await new Promise((resolve) => setTimeout(resolve, 5));
  await push(stage);
  await invocation(stage, {});
  stage.world.settle();
  await process;
  assert.deepEqual(linksOf(underWay(stage)), [link, { chain: link.chain, number: link.number + 1 }]);
});

/** Members start: the link sees nothing move, and leaves the next one. */
async function underWayNow(world: World): Promise<void> {
  await world.apply();
  while ((await world.tick())?.decision.kind === 'act');
}

test('a link that gets no answer to any one of its requests leaves the next one all the same', async () => {
  const whole = await installed(underWayNow);
  const places = await invocation(whole, { followUp: link, wait: 1 });
  assert.ok(places > 12, `${places} requests`);
  const next = { chain: link.chain, number: link.number + 1 };
  assert.deepEqual(linksOf(underWay(whole)), [link, next]);
  const requests = Array.from({ length: places }, (_, index) => index + 1);
  const silent = requests.map(async (request) => {
    const stage = await installed(underWayNow);
    // Longer than the pause between two attempts.
    await invocation(stage, { followUp: link, wait: 4 }, async (now) => {
      if (now === request) throw new KubeError('no answer', { class: 'retryable', reason: 'Timeout' });
    });
    assert.deepEqual(linksOf(underWay(stage)), [link, next], `request ${request}`);
  });
  await Promise.all(silent);
});
