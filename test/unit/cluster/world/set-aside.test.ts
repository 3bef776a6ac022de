import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '../../../../manifests/kube-types.ts';
import type { ActionKind } from '../../../../reconcile/cluster/know/action.ts';
import { needsPerson } from '../../../../reconcile/cluster/know/outcome.ts';
import { KubeError, resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { name, namespace, type World } from '../../../support/world/world.ts';

/** What the API server may say that stays a "no". */
const answers = [
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [409, 'AlreadyExists'],
  [422, 'Invalid'],
] as const;

const healing = { podGracePeriod: '20s', memberGracePeriod: '40s' };
const spec = { healing, storage: { size: '1Gi' } };
const rigid = { healing, storage: { size: '1Gi', storageClassName: 'rigid' } };

/** What has to be done besides, so that this is tried. */
const occasions: Partial<Readonly<Record<ActionKind, (world: World) => Promise<void> | void>>> = {
  'set-finalizer': (world) => world.apply({ ...spec, volumeRetention: { whenDeleted: 'Delete' } }),
  'apply-shared': (world) => world.kube.remove(resources.services, namespace, name),
  'grow-volumes': (world) => world.apply({ ...spec, storage: { ...spec.storage, size: '2Gi' } }),
  // After healing.
  'change-template': (world) => world.apply({ ...spec, etcd: { snapshotCount: 5000 } }),
};

/** What healing consists of. */
const parts = [
  'prepare-members',
  'remove-member',
  'add-learner',
  'seal-members',
] as const satisfies readonly ActionKind[];

describe('while an action is refused for good, a dead member is replaced to the end:', () => {
  for (const [kind, occur] of Object.entries(occasions) as [
    ActionKind,
    NonNullable<(typeof occasions)[ActionKind]>,
  ][]) {
    for (const [status, reason] of answers) {
      test(`${kind}, ${status} ${reason}`, async () => {
        const world = await healthyWorld();
        refuse(world, kind, status, reason);
        await occur(world);
        const told = await tickUntilConverged(world, { limit: 300 });
        world.loseVolume('orders-1');
        const end = await tickUntilConverged(world, { limit: 300 });
        const story = [...told.trail, '', ...end.trail].join('\n');
        assertVoters(world, ['orders-0', 'orders-2', 'orders-3'], story);
        assert.deepEqual(world.violations, [], story);
        const conditions = world.cluster()?.status?.conditions ?? [];
        assert.ok(
          conditions.some(({ type }) => type === 'Stalled'),
          story,
        );
        assert.ok(end.kind === 'refuse', story);
        world.refusing.clear();
        await assertConverges(world, 3);
      });
    }
  }
});

describe('while an admission webhook answers 500 for ever, a dead member is replaced to the end:', () => {
  for (const [kind, occur] of Object.entries(occasions) as [
    ActionKind,
    NonNullable<(typeof occasions)[ActionKind]>,
  ][]) {
    test(kind, async () => {
      const world = await healthyWorld();
      world.refusing.set(kind, new KubeError('500 failed calling webhook', unanswered));
      await occur(world);
      world.loseVolume('orders-1');
      const trail: string[] = [];
      for (let tick = 0; tick < 120; tick += 1) {
        world.settle();
        const { decision, outcome } = (await world.tick()) ?? assert.fail();
        trail.push(`${decision.kind} ${decision.reason} ${outcome}`);
        world.advance(20);
      }
      assertVoters(world, ['orders-0', 'orders-2', 'orders-3'], trail.join('\n'));
      assert.deepEqual(world.violations, [], trail.join('\n'));
      world.refusing.clear();
      await assertConverges(world, 3);
    });
  }
});

const unanswered = { class: 'retryable', status: 500, reason: 'InternalError' } as const;

describe('where healing itself is refused, it stops without harm, and goes on when that is cured:', () => {
  for (const [index, kind] of parts.entries()) {
    test(kind, async () => {
      const world = await healthyWorld();
      const [status, reason] = answers[index % answers.length] ?? answers[0];
      refuse(world, kind, status, reason);
      world.loseVolume('orders-1');
      const end = await tickUntilConverged(world, { limit: 300 });
      const story = end.trail.join('\n');
      assert.equal(end.kind, 'refuse', story);
      assert.deepEqual(world.violations, [], story);
      world.refusing.clear();
      await assertConverges(world, 3);
    });
  }
});

test('a growth that the class refuses keeps no member from being healed; the old size converges', async () => {
  const world = await healthyWorld(rigid);
  await world.apply({ ...rigid, storage: { ...rigid.storage, size: '2Gi' } });
  assert.equal((await tickUntilConverged(world)).reason, 'VolumeCannotGrow');
  world.loseVolume('orders-1');
  const end = await tickUntilConverged(world, { limit: 300 });
  const story = end.trail.join('\n');
  assertVoters(world, ['orders-0', 'orders-2', 'orders-3'], story);
  assert.equal(end.reason, 'VolumeCannotGrow', story);
  assert.deepEqual(new Set(world.claims().map((claim) => claim.spec.resources.requests?.storage)), new Set(['1Gi']));
  assert.deepEqual(
    world.cluster()?.status?.refusals?.map(({ reason }) => reason),
    ['VolumeCannotGrow'],
  );

  await world.apply(rigid);
  const reverted = await tickUntilConverged(world);
  assert.deepEqual([reverted.kind, reverted.reason], ['done', 'Converged'], reverted.trail.join('\n'));
  assert.equal(world.cluster()?.status?.setAside, undefined);
  assertWhole(world, 3, reverted.trail.join('\n'));
});

test("a foreign Service of the cluster's name keeps no member from being healed, and is named", async () => {
  const world = await healthyWorld();
  world.kube.remove(resources.services, namespace, name);
  const theirs: Service = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace, uid: 'theirs' }, spec: {} };
  world.kube.seed(resources.services, theirs);
  assert.equal((await tickUntilConverged(world)).reason, 'NameTaken');
  world.loseVolume('orders-1');
  const end = await tickUntilConverged(world, { limit: 300 });
  assertVoters(world, ['orders-0', 'orders-2', 'orders-3'], end.trail.join('\n'));
  const stalled = world.cluster()?.status?.conditions?.find(({ type }) => type === 'Stalled');
  assert.match(stalled?.message ?? '', /a Service named orders already/);
  const [found] = world.kube.stored<Service>(resources.services).filter(({ metadata }) => metadata.name === name);
  assert.equal(found?.metadata.uid, 'theirs', 'it is left alone');
  world.kube.remove(resources.services, namespace, name);
  await assertConverges(world, 3);
});

test('what was refused costs no request until it is tried again', async () => {
  const world = await healthyWorld();
  refuse(world, 'apply-shared', 403, 'Forbidden');
  world.kube.remove(resources.services, namespace, name);
  await tickUntilConverged(world);
  const writes = () => Object.entries(world.kube.requests()).filter(([key]) => !/^(GET|LIST)/.test(key));
  const before = writes();
  for (let ticks = 0; ticks < 5; ticks += 1) {
    const result = await world.tick();
    assert.deepEqual([result?.workRemains, result?.outcome], [false, 'none']);
  }
  assert.deepEqual(writes(), before);
});

async function healthyWorld(wanted: Parameters<World['apply']>[0] = spec): Promise<World> {
  return bornWith(wanted);
}

function refuse(world: World, kind: ActionKind, status: number, reason: string): void {
  const said = `POST things: ${status} ${reason}`;
  world.refusing.set(
    kind,
    status === 409
      ? needsPerson('NameTaken', `${said}. To go on: rename or delete it`)
      : new KubeError(said, { class: 'terminal', status, reason }),
  );
}

function assertVoters(world: World, names: readonly string[], story: string): void {
  const running = [...world.processes.values()].map(({ pod }) => pod.split('/')[1]?.replace(/-0$/, '')).toSorted();
  assert.deepEqual(running, names, story);
  const [formation] = [...world.formations.values()].filter(({ members }) => members.length > 0);
  assert.deepEqual(
    formation?.members.map(({ isLearner }) => isLearner),
    names.map(() => false),
    story,
  );
}

/** After the longest pause. */
async function assertConverges(world: World, size: number): Promise<Converged> {
  world.advance(1800);
  const end = await tickUntilConverged(world, { limit: 300 });
  assert.equal(end.kind, 'done', end.trail.join('\n'));
  assertWhole(world, size, end.trail.join('\n'));
  return end;
}
