import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inStages } from '../../../functions/checks/in-stages.ts';
import type { CheckedCluster } from '../../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { fleet } from '../cluster/fleet-objects.ts';

const stages = [
  { name: 'canary', matchLabels: { stage: 'canary' }, soak: '2h' },
  { name: 'eu', matchLabels: { region: 'eu' } },
];

const staged: EtcdFleet = { ...fleet(), spec: { ...fleet().spec, rollout: { stages } } };

function planned(name: string, restarts: number, intent: CheckedCluster['intent'] = 'update'): CheckedCluster {
  const end = { kind: 'done', reason: 'Converged', message: '' } as const;
  const plan = { summary: '', costs: { restarts, removals: 0 }, steps: [], end };
  return { namespace: 'shop', name, intent, planned: plan };
}

const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'shop/a': { stage: 'canary', region: 'eu' },
  'shop/b': { region: 'eu' },
};
const linesOf = (clusters: readonly CheckedCluster[], of = staged) => inStages(of, clusters, (key) => labels[key]);

test('a plan says in which stages clusters restart, and how long each is watched', () => {
  assert.deepEqual(linesOf([planned('c', 3), planned('b', 1), planned('a', 3)]), [
    'canary: shop/a; well for 2h before the next',
    'eu: shop/b',
    'all others: shop/c',
  ]);
});

test('it counts those that are too many to name, and says where a stage has none', () => {
  const many = Array.from({ length: 7 }, (_, n) => planned(`x${n}`, 1));
  assert.deepEqual(linesOf(many), [
    'canary: no cluster that restarts; well for 2h before the next',
    'eu: no cluster that restarts',
    'all others: shop/x0, shop/x1, shop/x2, shop/x3, shop/x4 and 2 more',
  ]);
});

test('it says nothing of stages where no member is restarted by them, or the fleet has none', () => {
  assert.deepEqual(linesOf([planned('a', 0), planned('b', 3, 'create'), planned('c', 3, 'delete')]), []);
  assert.deepEqual(linesOf([planned('a', 3)], fleet()), []);
});
