import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatefulSet } from '../../../../manifests/kube-types.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { parseShown } from '../../../../reconcile/cluster/know/plan/costs.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../../reconcile/objects/conditions.ts';
import { bornWith } from '../../../support/world/born.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { fillUp } from '../../../support/world/harm.ts';
import type { World } from '../../../support/world/world.ts';

/** A request's plan that was shown, and the world in which its commit is applied. */

/** As a fleet applies a spec whose plan was shown. */
async function merged(world: World, spec: Parameters<World['apply']>[0], shown: string): Promise<void> {
  await world.apply(spec);
  const cluster = world.cluster() ?? assert.fail('no cluster');
  const given = { ...cluster.metadata.annotations, [annotations.shownPlan]: shown };
  await world.kube.update(resources.clusters, { ...cluster, metadata: { ...cluster.metadata, annotations: given } });
}

const said = (world: World) => conditionOf(world.cluster()?.status, 'Ready')?.message ?? '';
const planOf = (world: World) => world.cluster()?.status?.plan;
const upgrade = { replicas: 3, version: '3.6.17' };

test('a change that costs more than was shown is told a minute before its first step', async () => {
  const world = await bornWith({ replicas: 3, version: '3.6.16' });
  await merged(world, upgrade, '17/0/0');
  for (let look = 0; look < 3; look++) {
    const result = await world.tick();
    assert.deepEqual([result?.reason, result?.outcome], ['PlanOutgrown', 'none'], `look ${look}`);
  }
  assert.match(said(world), /^request 17 was shown with 0 restarts and 0 removals, and it takes 3 restarts and 0 rem/);
  assert.deepEqual([planOf(world)?.state, planOf(world)?.message], ['UnderWay', '0 of 4 steps']);
  world.advance(61);
  assert.equal((await world.tick())?.outcome, 'acted');
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  assert.equal(planOf(world)?.state, 'AsPlanned');
  assert.match(planOf(world)?.message ?? '', /^as planned, 4 of 4 steps; request 17 was shown with 0 restarts/);
});

test('a change that costs what was shown, or less, begins at once', async () => {
  for (const shown of ['17/3/0', '17/5/2']) {
    const world = await bornWith({ replicas: 3, version: '3.6.16' });
    await merged(world, upgrade, shown);
    assert.equal((await world.tick())?.outcome, 'acted', shown);
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
    assert.equal(planOf(world)?.message, 'as planned, 4 of 4 steps');
  }
});

/** What each look came to, until the cluster is as asked: where the time goes on by five seconds. */
async function looks(world: World): Promise<readonly string[]> {
  const trail: string[] = [];
  for (let seconds = 0; seconds < 300; seconds += 5) {
    world.settle();
    const result = await world.tick();
    trail.push(`${seconds} ${result?.reason}`);
    if (result?.reason === 'Converged') return trail;
    world.advance(5);
  }
  throw new Error(`no end: ${trail.join('\n')}`);
}

test('what takes no restart is done within the minute, and a cure as well; the restarts wait', async () => {
  const grows = await bornWith({ replicas: 3, version: '3.6.16' });
  await merged(grows, { ...upgrade, storage: { size: '20Gi' } }, '17/0/0');
  const trail = await looks(grows);
  assert.deepEqual(trail.slice(0, 2), ['0 GrowingVolumes', '5 PlanOutgrown']);
  assert.ok(trail.includes('60 UpgradingMember'), trail.join());
  assert.match(planOf(grows)?.message ?? '', /^as planned, 5 of 5 steps; request 17 was shown/);

  const cured = await bornWith({ replicas: 3, version: '3.6.16' });
  await merged(cured, upgrade, '17/0/0');
  assert.equal((await cured.tick())?.reason, 'PlanOutgrown');
  const [set = assert.fail('no StatefulSet')] = cured.kube.stored<StatefulSet>(resources.statefulSets);
  const { template } = set.spec;
  const labels = { ...template.metadata?.labels, other: 'hand' };
  const foreign = { ...template, metadata: { ...template.metadata, labels } };
  await cured.kube.update<StatefulSet>(resources.statefulSets, { ...set, spec: { ...set.spec, template: foreign } });
  const after = await looks(cured);
  assert.deepEqual(after.slice(0, 2), ['0 PuttingBackTemplates', '5 PlanOutgrown']);
  assert.ok(after.includes('60 UpgradingMember'), after.join());
  assert.match(planOf(cured)?.message ?? '', /^left its plan at step 1 of 4: .*; request 17 was shown/);
});

test('what waits for something else first is compared at its first look', async () => {
  const world = await bornWith({ replicas: 3, version: '3.6.16' });
  const maintenance = { windows: [{ start: '0 4 * * *', duration: '4h' }] };
  await merged(world, { ...upgrade, maintenance }, '17/0/0');
  assert.equal((await world.tick())?.reason, 'OutsideWindows');
  assert.match(planOf(world)?.outgrown ?? '', /it takes 3 restarts/);
  world.advance(3600);
  assert.deepEqual((await looks(world)).slice(0, 1), ['0 UpgradingMember'], 'it was told an hour ago');
});

test('a disk that is lost before the merge is healed at once, and the last word says it', async () => {
  const world = await bornWith({ replicas: 3 });
  await merged(world, { replicas: 3, etcd: { snapshotCount: 100 } }, '17/3/0');
  world.loseVolume('orders-2');
  const meanwhile = async () => world.advance(60);
  assert.equal((await tickUntilConverged(world, { meanwhile })).reason, 'Converged');
  assert.match(planOf(world)?.message ?? '', /; request 17 was shown with 3 restarts and 0 removals, .* 1 removal by/);
});

test('a clock that went back holds nothing', async () => {
  const world = await bornWith({ replicas: 3, version: '3.6.16' });
  await merged(world, upgrade, '17/0/0');
  assert.equal((await world.tick())?.reason, 'PlanOutgrown');
  world.advance(-3600);
  assert.equal((await world.tick())?.outcome, 'acted');
});

test('what cures an outage is told, and waits for no minute', async () => {
  const quota = 100 * 2 ** 20;
  const world = await bornWith({ replicas: 3, etcd: { quotaBackendBytes: '100Mi' } });
  const space = fillUp(world, { quota, live: 99 * 2 ** 20, history: 2 ** 21 });
  assert.equal((await tickUntilConverged(world)).reason, 'NoSpace');
  space.quota = 2 * quota;
  await merged(world, { etcd: { quotaBackendBytes: '200Mi' } }, '17/0/0');
  const first = await world.tick();
  assert.deepEqual([first?.outcome, first?.reason], ['acted', 'NoSpace']);
  assert.match(planOf(world)?.outgrown ?? '', /it takes 3 restarts/);
});

test('an annotation that no fleet wrote so counts for nothing', async () => {
  for (const odd of [undefined, '', '17', '17/0', '17/0/0/0', '17/-1/0', 'x/0/0', `${'9'.repeat(400)}/0/0`, '17/0/0\n'])
    assert.equal(parseShown(odd), undefined, odd);
  const world = await bornWith({ replicas: 3, version: '3.6.16' });
  await merged(world, upgrade, '17/lots/0');
  assert.equal((await world.tick())?.outcome, 'acted');
});
