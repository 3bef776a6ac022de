import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type KubeObject, type Resource, resources } from '../../../../reconcile/interfaces/kube.ts';
import { tickUntilConverged } from '../../../support/world/converge.ts';
import { assertWhole } from '../../../support/world/whole.ts';
import { createWorld, namespace, type World } from '../../../support/world/world.ts';

/** What another client changes in an object that etcd-ratchet owns is put back, or is what others may set. */

const members = ['orders-0', 'orders-1', 'orders-2'] as const;

/** `kept`: the API server takes no change of it. */
const objects: readonly { readonly resource: Resource; readonly name: string; readonly kept: RegExp }[] = [
  ...members.map((name) => ({
    resource: resources.statefulSets,
    name,
    kept: /^(selector|serviceName|podManagementPolicy)\b/,
  })),
  { resource: resources.services, name: 'orders', kept: /^(clusterIP|ipFamil)/ },
  { resource: resources.services, name: 'orders-peers', kept: /^(clusterIP|ipFamil)/ },
  { resource: resources.disruptionBudgets, name: 'orders', kept: /^$/ },
  { resource: resources.networkPolicies, name: 'orders-members', kept: /^$/ },
];

type Spec = Readonly<Record<string, unknown>>;

function specOf(world: World, resource: Resource, name: string): Spec {
  const found = world.kube.stored<KubeObject & { spec: Spec }>(resource).find(({ metadata }) => metadata.name === name);
  return found?.spec ?? assert.fail(`${resource.kind} ${name}`);
}

/** Every value in it by its path, but for those that the API server keeps. */
function leavesOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, field]) => leavesOf(field, [...path, key]));
}

function changed(value: unknown, [key, ...rest]: readonly string[], change: (leaf: unknown) => unknown): unknown {
  if (key === undefined) return change(value);
  if (Array.isArray(value))
    return value.flatMap((item, index) => (String(index) === key ? defined(changed(item, rest, change)) : [item]));
  const fields = { ...(value as Spec) };
  const field = changed(fields[key], rest, change);
  if (field === undefined) delete fields[key];
  else fields[key] = field;
  return fields;
}

function defined(value: unknown): readonly unknown[] {
  return value === undefined ? [] : [value];
}

function another(leaf: unknown): unknown {
  if (typeof leaf === 'number') return leaf + 1;
  return typeof leaf === 'boolean' ? !leaf : `${leaf}-of-others`;
}

const ways = { changes: another, removes: () => undefined } as const;

test('whatever field of an object another client changes or removes, it is put back', async () => {
  const start = createWorld();
  await start.apply();
  await tickUntilConverged(start);
  const places = objects.flatMap(({ resource, name, kept }) =>
    leavesOf(specOf(start, resource, name)).flatMap((path) =>
      kept.test(path.join('.')) ? [] : [{ resource, name, path }],
    ),
  );
  const hand = fc.record({ place: fc.constantFrom(...places), way: fc.constantFrom('changes', 'removes') });
  await fc.assert(
    fc.asyncProperty(fc.array(hand, { minLength: 1, maxLength: 3 }), async (hands) => {
      const world = start.fork();
      const before = objects.map(({ resource, name }) => specOf(world, resource, name));
      for (const { place, way } of hands) {
        const { resource, name, path } = place;
        const found = await world.kube.get<KubeObject & { spec: Spec }>(resource, namespace, name);
        if (!found) return assert.fail(name);
        await world.kube.update(resource, { ...found, spec: changed(found.spec, path, ways[way]) as Spec });
      }
      const { kind, trail } = await tickUntilConverged(world);
      const story = `${JSON.stringify(hands)}\n${trail.join('\n')}`;
      assert.equal(kind, 'done', story);
      assert.deepEqual(
        objects.map(({ resource, name }) => specOf(world, resource, name)),
        before,
        story,
      );
      assertWhole(world, members, story);
    }),
    { numRuns: 60 },
  );
});

const ofClients = [resources.services, 'orders'] as const;
const ofBudget = [resources.disruptionBudgets, 'orders'] as const;
const additions: Readonly<Record<string, readonly [at: readonly [Resource, string], change: (spec: Spec) => Spec]>> = {
  'a label that no pod has, to the selector of a Service': [
    ofClients,
    (spec) => ({ ...spec, selector: { ...(spec.selector as Spec), release: 'blue' } }),
  ],
  'pods that are not Ready, to the Service for clients': [
    ofClients,
    (spec) => ({ ...spec, publishNotReadyAddresses: true }),
  ],
  'addresses outside, to the Service for clients': [ofClients, (spec) => ({ ...spec, externalIPs: ['192.0.2.1'] })],
  'a label that no pod has, to the selector of the budget': [
    ofBudget,
    (spec) => ({ ...spec, selector: { matchLabels: { ...podsOf(spec), release: 'blue' } } }),
  ],
  'another rule, in place of the number of a budget': [
    ofBudget,
    ({ minAvailable: _, ...spec }) => ({ ...spec, maxUnavailable: '100%' }),
  ],
  'the network of the node, to a StatefulSet': [
    [resources.statefulSets, 'orders-1'],
    (spec) => changed(spec, ['template', 'spec', 'hostNetwork'], () => true) as Spec,
  ],
};

function podsOf({ selector }: Spec): Spec {
  return (selector as { readonly matchLabels: Spec }).matchLabels;
}

for (const [what, [[resource, name], change]] of Object.entries(additions)) {
  test(`another client adds ${what}: it is put back`, async () => {
    const world = createWorld();
    await world.apply();
    await tickUntilConverged(world);
    const before = specOf(world, resource, name);
    const found = await world.kube.get<KubeObject & { spec: Spec }>(resource, namespace, name);
    if (!found) return assert.fail(name);
    await world.kube.update(resource, { ...found, spec: change(found.spec) });
    const { kind, trail } = await tickUntilConverged(world);
    assert.equal(kind, 'done', trail.join('\n'));
    assert.deepEqual(specOf(world, resource, name), before);
    assertWhole(world, members, trail.join('\n'));
  });
}

test('what controllers of Services and of load balancers add is theirs', async () => {
  const world = createWorld();
  await world.apply({ service: { type: 'LoadBalancer' } });
  await tickUntilConverged(world);
  const found = await world.kube.get<KubeObject & { spec: Spec }>(resources.services, namespace, 'orders-external');
  if (!found) return assert.fail('there is no Service for clients outside');
  const [port] = found.spec.ports as readonly Spec[];
  const given = { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'], healthCheckNodePort: 30123, newInNextMinor: true };
  const allocated = { ...found.spec, ...given, ports: [{ ...port, nodePort: 30007 }] };
  const annotations = { ...found.metadata.annotations, 'balancer.example.org/id': 'lb-1' };
  const metadata = { ...found.metadata, annotations };
  await world.kube.update(resources.services, { ...found, metadata, spec: allocated } as KubeObject);
  assert.equal((await world.tick())?.reason, 'Converged');
});

test('a Service that another client changes each time is put back every ten minutes only', async () => {
  const world = createWorld();
  await world.apply();
  await tickUntilConverged(world);
  const fight = async () => {
    const found = await world.kube.get<KubeObject & { spec: Spec }>(resources.services, namespace, 'orders');
    if (found) await world.kube.update(resources.services, { ...found, spec: { ...found.spec, selector: {} } });
  };
  const { kind, reason, message, steps, trail } = await tickUntilConverged(world, { meanwhile: fight });
  assert.deepEqual([kind, reason, steps.length], ['refuse', 'ObjectContested', 10], trail.join('\n'));
  assert.match(message, /the client-service of orders/);
  world.advance(600);
  assert.equal((await tickUntilConverged(world)).kind, 'done');
});
