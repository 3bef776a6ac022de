import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicy } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../../support/world/born.ts';
import { type Converged, tickUntilConverged } from '../../../support/world/converge.ts';
import type { World } from '../../../support/world/world.ts';

function policies(world: World): readonly NetworkPolicy[] {
  return world.kube.stored<NetworkPolicy>(resources.networkPolicies);
}

function only(world: World): NetworkPolicy {
  const [policy = assert.fail('there is none'), ...others] = policies(world);
  assert.deepEqual(others, []);
  return policy;
}

function stepsOf({ steps }: Converged): readonly string[] {
  return steps.map(({ action, target }) => `${action} ${target}`);
}

test('members are isolated before the first of them starts', async () => {
  const world = await bornWith({ replicas: 3 });
  const written = world.kube.journal().filter(({ verb }) => verb === 'POST');
  const made = (plural: string) => written.findIndex(({ resource }) => resource.plural === plural);
  assert.ok(made('networkpolicies') >= 0 && made('networkpolicies') < made('statefulsets'));
});

for (const [what, change] of [
  ['was opened for all', { podSelector: {}, policyTypes: ['Ingress'], ingress: [{}] }],
  ['was narrowed, and limits where members connect to', { policyTypes: ['Ingress', 'Egress'], egress: [] }],
] as const) {
  test(`a network policy that ${what} is put back as it was`, async () => {
    const world = await bornWith({ replicas: 3 });
    const before = only(world);
    world.kube.seed(resources.networkPolicies, { ...before, ...{ spec: { ...before.spec, ...change } } });
    const end = await tickUntilConverged(world);
    assert.deepEqual(stepsOf(end), ['apply-shared network-policy']);
    assert.deepEqual(only(world).spec, before.spec);
    assert.deepEqual(stepsOf(await tickUntilConverged(world)), []);
  });
}

test('a change of who may connect restarts no member', async () => {
  const world = await bornWith({ replicas: 3 });
  await world.apply({ replicas: 3, networkPolicy: { clients: [] } });
  assert.deepEqual(stepsOf(await tickUntilConverged(world)), ['apply-shared network-policy']);
  assert.ok(only(world).spec.ingress.every(({ from }) => from !== undefined));
  await world.apply({ replicas: 3 });
  assert.deepEqual(stepsOf(await tickUntilConverged(world)), ['apply-shared network-policy']);
});

test('a network policy goes when the spec wants none, and one of another owner stays', async () => {
  const world = await bornWith({ replicas: 3 });
  const policy = only(world);
  const { ownerReferences: _, ...metadata } = policy.metadata;
  const theirs = { ...policy, metadata: { ...metadata, name: 'theirs', uid: 'theirs', labels: {} } };
  world.kube.seed(resources.networkPolicies, theirs);
  await world.apply({ replicas: 3, networkPolicy: { mode: 'Disabled' } });
  assert.deepEqual(stepsOf(await tickUntilConverged(world)), ['apply-shared no-network-policy']);
  assert.deepEqual(
    policies(world).map((one) => one.metadata.name),
    ['theirs'],
  );
  await world.apply({ replicas: 3 });
  assert.deepEqual(stepsOf(await tickUntilConverged(world)), ['apply-shared network-policy']);
});

test('a network policy goes with its cluster', async () => {
  const world = await bornWith({ replicas: 3 });
  await world.remove();
  for (let tick = 0; tick < 20; tick += 1) {
    await world.tick();
    world.advance(2);
    world.settle();
  }
  assert.equal(world.cluster(), undefined);
  assert.deepEqual(policies(world), []);
});
