import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { StatefulSet } from '../../../manifests/kube-types.ts';
import { labels } from '../../../manifests/render/names.ts';
import { type Kube, type KubeObject, type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { indexFor, type Shard } from '../../../reconcile/stepping/shard.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { virtualTime } from '../../support/virtual-time.ts';
import { bornWith } from '../../support/world/born.ts';
import { asInvocation } from '../../support/world/invocation.ts';
import { passIn } from '../../support/world/passing.ts';
import { namespace, type World } from '../../support/world/world.ts';
import { type Living, manyLiving, withController } from './many-living.ts';

/** Two shards step one fleet at once, as when one is back that was missed: whichever write one of them is held at. */

const fleet = 'fleet-uid';
const many = 3;
const own = indexFor(fleet, 2);
/** The one that steps the fleet for the other, and the other. */
const helper: Shard = { index: 1 - own, of: 2, missing: [own] };
const back: Shard = { index: own, of: 2, missing: [] };

interface Stage extends Pick<Living, 'kube'> {
  /** A commit reaches these, by their numbers. */
  commit(...numbers: readonly number[]): Promise<void>;
  passOf(shard: Shard, kube: Kube): Promise<void>;
  /** Namespaces of those whose members are given what the commit says. */
  begun(): readonly string[];
}

/** Clusters of one fleet at rest, of which one may change at a time. */
async function atRest(): Promise<World> {
  const world = await bornWith({ replicas: 3 });
  const { kube } = world;
  const found = (await kube.get<EtcdCluster>(resources.clusters, namespace, 'orders')) ?? assert.fail();
  const marked = { ...found.metadata, labels: { ...found.metadata.labels, [labels.fleet]: fleet } };
  await kube.update<EtcdCluster>(resources.clusters, { ...found, metadata: marked });
  await pass(passIn(world));
  return world;
}

const world = await atRest();
const settled = await settledFleet();

/** Each has had a step that found nothing to do. */
async function settledFleet(): Promise<Living> {
  const living = manyLiving(world, many);
  const { kube } = living;
  const inventory = kube.stored<EtcdCluster>(resources.clusters).map(({ metadata: { namespace, name, uid } }) => ({
    ...{ kind: 'EtcdCluster', namespace, name, uid, generation: 1 },
  }));
  const git = { url: 'https://git.example.com/etcd.git', ref: 'main' };
  kube.seed(resources.fleets, {
    metadata: { name: 'production', namespace: 'platform', uid: fleet, generation: 1 },
    spec: { git, suspend: true, maxClustersInProgress: 1 },
    status: { inventory },
  } as KubeObject);
  await pass(passIn(world, { kube, namespace: undefined, etcd: async () => living.etcd }));
  return living;
}

function anew(): Stage {
  const { etcd } = settled;
  const kube = withController(createFakeKube({ clock: () => new Date(world.now()) }));
  for (const resource of Object.values(resources)) kube.seed(resource, ...settled.kube.stored<KubeObject>(resource));
  return {
    kube,
    async passOf(shard, through) {
      const around = { kube: through, namespace: undefined, etcd: async () => etcd, shard };
      await pass(passIn(world, around, `${shard.index}`));
    },
    async commit(...numbers) {
      // Whatever writes to them meanwhile.
      for (const number of numbers) {
        const metadata = { name: 'orders', namespace: `team-${number}` };
        const document = { ...kindOf(resources.clusters), metadata, spec: { etcd: { snapshotCount: 5000 } } };
        await kube.apply<KubeObject>(resources.clusters, document, { fieldManager: 'git' });
      }
    },
    begun() {
      const sets = kube.stored<StatefulSet>(resources.statefulSets);
      const given = sets.filter((one) => JSON.stringify(one).includes('5000'));
      return [...new Set(given.map(({ metadata }) => metadata.namespace ?? ''))];
    },
  };
}

function kindOf({ apiVersion, kind }: Resource) {
  return { apiVersion, kind };
}

interface Ended {
  readonly begun: readonly string[];
  /** After one more pass. */
  readonly after: readonly string[];
  /** The second has a write of that number: else it was through before the first went on. */
  readonly hasMore: boolean;
}

/**
 * The helper is held at one of its writes, `meanwhile` happens, and the other makes a pass, which is held at one of its
 * own until the helper is through.
 *
 * @returns `undefined`: the helper makes no write of that number
 */
async function heldAt(
  [first, second]: readonly [number, number],
  prepare: (stage: Stage) => Promise<void>,
  meanwhile: (stage: Stage) => Promise<void>,
): Promise<Ended | undefined> {
  const stage = anew();
  await prepare(stage);
  using time = virtualTime(() => false);
  const isThrough = Promise.withResolvers<void>();
  const isHeld = { first: false, second: false };
  let other: Promise<void> | undefined;
  const helped = asInvocation(stage.kube, {
    before: async (write) => {
      if (write !== first) return;
      isHeld.first = true;
      await meanwhile(stage);
      const reached = Promise.withResolvers<void>();
      const others = asInvocation(stage.kube, {
        before: async (another) => {
          if (another !== second) return;
          isHeld.second = true;
          reached.resolve();
          await isThrough.promise;
        },
      });
      other = stage.passOf(back, others);
      await Promise.race([reached.promise, other]);
    },
  });
  await time.until(stage.passOf(helper, helped).finally(isThrough.resolve));
  if (other) await time.until(other);
  if (!isHeld.first) return undefined;
  const begun = stage.begun();
  // Where each saw the other, none began.
  world.advance(60);
  await time.until(stage.passOf(back, stage.kube));
  return { begun, after: stage.begun(), hasMore: isHeld.second };
}

/** In how many lives; and those in which more began than may, or none went on. */
async function heldAtEach(
  prepare: (stage: Stage) => Promise<void>,
  meanwhile: (stage: Stage) => Promise<void>,
): Promise<{ readonly lives: number; readonly wrong: readonly string[] }> {
  const wrong: string[] = [];
  let lives = 0;
  for (let first = 0; ; first += 1) {
    for (let second = 0, hasMore = true; hasMore; second += 1) {
      const ended = await heldAt([first, second], prepare, meanwhile);
      if (!ended) return { lives, wrong };
      hasMore = ended.hasMore;
      lives += 1;
      if (ended.begun.length > 1 || ended.after.length !== 1)
        wrong.push(`held at writes ${first} and ${second}: [${ended.begun}], then [${ended.after}]`);
    }
  }
}

test('two that step one fleet at once begin no more clusters than may change', async () => {
  const { lives, wrong } = await heldAtEach(
    (stage) => stage.commit(0, 1, 2),
    async () => {},
  );
  assert.deepEqual(wrong, []);
  assert.ok(lives > 10, `${lives} lives`);
});

test('so do two of which one saw only a part of the commit', async () => {
  const { lives, wrong } = await heldAtEach(
    (stage) => stage.commit(1),
    (stage) => stage.commit(0, 2),
  );
  assert.deepEqual(wrong, []);
  assert.ok(lives > 10, `${lives} lives`);
});

test('where one dies at any of its writes, the other goes on, and with no more than may change', async () => {
  for (let at = 0; ; at += 1) {
    const stage = anew();
    await stage.commit(0, 1, 2);
    using time = virtualTime(() => false);
    let isDead = false;
    const mortal = asInvocation(stage.kube, {
      before: (write) => {
        isDead ||= write === at;
        if (isDead) throw new Error('killed');
      },
    });
    await time.until(stage.passOf(helper, mortal).catch(() => undefined));
    if (!isDead) {
      assert.ok(at > 3, `${at} writes`);
      return;
    }
    world.advance(60);
    await time.until(stage.passOf(back, stage.kube));
    assert.equal(stage.begun().length, 1, `killed at write ${at}`);
  }
});
