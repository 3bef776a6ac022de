import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, StatefulSet } from '../../../../manifests/kube-types.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import { memberPriorityClass } from '../../../../manifests/render/member-defaults.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { changeSet, withFlag } from '../../../support/world/hands.ts';
import { createWorld, type World } from '../../../support/world/world.ts';

const template = (world: World) =>
  world.kube.stored<StatefulSet>(resources.statefulSets).map(({ spec }) => spec.template.spec);
const priorities = (world: World) => template(world).map(({ priorityClassName }) => priorityClassName);

function offer(world: World): void {
  const { apiVersion, kind } = resources.priorityClasses;
  world.kube.seed(resources.priorityClasses, { apiVersion, kind, metadata: { name: memberPriorityClass } });
}

test('members bear our priority class where it is installed', async () => {
  const world = createWorld();
  offer(world);
  await world.apply();
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  assert.deepEqual(priorities(world), Array(3).fill(memberPriorityClass));
});

for (const [where, prepare] of [
  ['it is not installed', () => undefined],
  ['it may not be looked for', (world: World) => void world.forbidden.add('GET priorityclasses')],
] as const) {
  test(`a cluster is born without our priority class where ${where}`, async () => {
    const world = createWorld();
    prepare(world);
    await world.apply();
    assert.equal((await tickUntilConverged(world)).reason, 'Converged');
    assert.deepEqual(priorities(world), [undefined, undefined, undefined]);
  });
}

test('members of an earlier release are left alone, and get both at their next start', async () => {
  const world = createWorld();
  await world.apply();
  await tickUntilConverged(world);
  for (const set of world.kube.stored<StatefulSet>(resources.statefulSets)) asBefore(world, set);
  offer(world);
  const { reason, acts, trail } = await tickUntilConverged(world);
  assert.equal(reason, 'Converged', trail.join('\n'));
  assert.equal(acts, 0, trail.join('\n'));

  await world.apply({ etcd: { snapshotCount: 5000 } });
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  assert.deepEqual(priorities(world), Array(3).fill(memberPriorityClass));
  for (const { containers } of template(world)) assert.equal(containers[0]?.resources?.requests?.memory, '256Mi');
});

test('a priority class that is installed later is no change of another client', async () => {
  const world = createWorld();
  await world.apply();
  await tickUntilConverged(world);
  offer(world);
  await changeSet(world, 'orders-0', withFlag('--unsafe-no-fsync=true'));
  assert.equal((await tickUntilConverged(world)).reason, 'Converged');
  const told = (world.cluster()?.status?.history ?? []).map(({ message }) => message).join('\n');
  assert.match(told, /kubectl-edit changed \S+args of StatefulSet orders-0/);
  assert.doesNotMatch(told, /priorityClassName/);
});

/** Its template asks for nothing, and its pod was made from that. */
function asBefore(world: World, set: StatefulSet): void {
  const { template } = set.spec;
  const containers = template.spec.containers.map((container) => ({ ...container, resources: {} }));
  const old = { ...template, spec: { ...template.spec, containers } };
  world.kube.seed<StatefulSet>(resources.statefulSets, { ...set, spec: { ...set.spec, template: old } });
  const revision = `${set.metadata.name}-${hashOf(old).slice(0, 10)}`;
  const pod = world.kube.stored<Pod>(resources.pods).find(({ metadata }) => metadata.name === `${set.metadata.name}-0`);
  assert.ok(pod);
  const labels = { ...pod.metadata.labels, 'controller-revision-hash': revision };
  world.kube.seed<Pod>(resources.pods, { ...pod, metadata: { ...pod.metadata, labels } });
}
