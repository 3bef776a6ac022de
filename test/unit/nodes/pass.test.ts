import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import type { Node } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import type { FleetPlan } from '../../../reconcile/fleet/plan.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { nodePlans, policiesIn } from '../../../reconcile/nodes/asked.ts';
import { nodePolicyKind } from '../../../reconcile/nodes/kind.ts';
import type { NodesContext } from '../../../reconcile/nodes/observe.ts';
import { planNodePolicies, stepNodePolicies } from '../../../reconcile/nodes/pass.ts';
import { createFakeKube, type FakeKube, type FakeRequest } from '../../support/fakes/kube.ts';
import { kindContext } from '../../support/kind-context.ts';
import { grantOf, policyOf } from './seen.ts';

/** What a pass does where policies are gone, unreadable or not asked for. */

const named = (name: string): EtcdNodePolicy => ({ ...policyOf(), metadata: { name, uid: `uid-${name}` } });
const node: Node = { metadata: { name: 'node-1', uid: 'uid-1' } };

function stage(before: (request: FakeRequest) => void = () => undefined) {
  const kube = createFakeKube({ before });
  kube.seed(resources.nodes, node);
  kube.seed(resources.nodePolicies, named('a'), named('b'));
  const logged: string[] = [];
  return { kube, logged, context: contextOf(kube, logged) };
}

function contextOf(kube: FakeKube, logged: string[] = []): NodesContext {
  return {
    kube,
    etcd: async () => assert.fail('no cluster is there'),
    wire: async () => assert.fail('no member is there'),
    holder: { pod: 'pod-1', uid: 'u1' },
    nonce: () => '0123456789abcdef0123456789abcdef',
    log: (_, message) => logged.push(message),
    dryRun: false,
    rebootsIn: 'reboots',
    signal: AbortSignal.timeout(10_000),
  };
}

function failing(key: string, error: Error, from = 1) {
  let count = 0;
  return (request: FakeRequest) => {
    if (request.key === key) count += 1;
    if (request.key === key && count >= from) throw error;
  };
}

const busy = () => new KubeError('503', { class: 'retryable', status: 503, reason: 'ServiceUnavailable' });
const keysOf = (kube: FakeKube) => kube.journal().map(({ key }) => key);

test('a policy that was made anew since it was listed has its turn in the next pass', async () => {
  const { context } = stage();
  const outdated = { ...named('a'), metadata: { name: 'a', uid: 'earlier' } };
  const results = await stepNodePolicies([outdated, named('b')], context);
  assert.deepEqual(
    results.map(({ name }) => name),
    ['b'],
  );
});

test('a policy that can not be written is tried again soon, and keeps no other from its step', async () => {
  let refused = false;
  const { context } = stage(({ key }) => {
    if (key !== 'PUT etcdnodepolicies/status' || refused) return;
    refused = true;
    throw busy();
  });
  const results = await stepNodePolicies([named('a'), named('b')], context);
  assert.partialDeepStrictEqual(results, [
    { name: 'a', outcome: 'failed', reason: 'ServiceUnavailable', workRemains: true, afterSeconds: 5 },
    { name: 'b', outcome: 'none', reason: 'NothingToDo' },
  ]);
});

test('a pass that can not list nodes says so, and keeps what it has done', async () => {
  const { context, logged } = stage(failing('LIST nodes', busy(), 3));
  const results = await stepNodePolicies([named('a'), named('b')], context);
  assert.deepEqual(
    results.map(({ name }) => name),
    ['a'],
  );
  assert.equal(logged.length, 2, logged.join('\n'));
});

test('a defect of ours ends a pass, wherever it is', async () => {
  for (const key of ['LIST nodes', 'PUT etcdnodepolicies/status']) {
    const { context } = stage(failing(key, new TypeError('a defect')));
    await assert.rejects(stepNodePolicies([named('a')], context), /a defect/, key);
  }
});

test('a plan lists nodes only where there is a policy', async () => {
  const kube = createFakeKube();
  assert.deepEqual(await planNodePolicies(contextOf(kube)), []);
  assert.deepEqual(keysOf(kube), ['LIST etcdnodepolicies']);
});

test('without the component node-reboots no node is looked at, whatever is asked', async () => {
  const { kube, context } = stage();
  const { rebootsIn: _, ...without } = context;
  assert.deepEqual(await nodePlans(without, [named('a')]), []);
  assert.deepEqual(await nodePolicyKind.step([named('a')], kindContext(without)), []);
  assert.deepEqual(keysOf(kube), []);
});

test('a commit asks for the node policies that it changes, and for nothing of other kinds', () => {
  const apply = (kind: 'create' | 'settled', of: string) => ({
    kind,
    spec: { kind: of, name: of, object: policyOf() },
  });
  const applies = [
    apply('create', 'EtcdCluster'),
    apply('settled', 'EtcdNodePolicy'),
    apply('create', 'EtcdNodePolicy'),
  ];
  const found = policiesIn({ applies: applies as unknown as FleetPlan['applies'] });
  assert.deepEqual(found, [
    {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdNodePolicy',
      metadata: { name: 'EtcdNodePolicy' },
      spec: policyOf().spec,
    },
  ]);
});

test('policies have their steps, and their plans, by name', async () => {
  const { context } = stage();
  const results = await stepNodePolicies([named('b'), named('a')], context);
  assert.deepEqual(
    results.map(({ name }) => name),
    ['a', 'b'],
  );
  const plans = await nodePlans(context, [named('b'), named('0')]);
  assert.deepEqual(
    plans.map(({ policy }) => policy),
    ['0', 'a', 'b'],
  );
});

test('marks that no policy has begun with are taken away, and in a plan only told', async () => {
  const marks = { [annotations.rebootGranted]: '2026-01-02T03:04:05Z lost' };
  for (const dryRun of [true, false]) {
    const { kube, context } = stage();
    const logged: object[] = [];
    kube.seed(resources.nodes, { ...node, metadata: { ...node.metadata, annotations: marks } });
    await stepNodePolicies([], { ...context, dryRun, log: (fields) => logged.push(fields) });
    assert.equal(keysOf(kube).includes('PUT nodes'), !dryRun);
    assert.deepEqual(logged, [{ node: 'node-1', reason: 'PolicyGone', outcome: dryRun ? 'none' : 'acted' }]);
  }
});

test('a plan of a policy that is changed goes on with what has begun', async () => {
  const { kube, context } = stage();
  const annotated = { ...node.metadata, uid: 'uid-node-1', annotations: { [annotations.rebootNeeded]: 'kernel' } };
  const status = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: 'boot-1' } };
  kube.seed(resources.nodes, { metadata: annotated, status });
  kube.seed(resources.nodePolicies, { ...named('a'), status: { observedGeneration: 1, grants: [grantOf('node-1')] } });
  const suspended = (name: string) => ({ ...named(name), spec: { ...named(name).spec, suspend: true } });
  const leftOf = async (name: string) => (await nodePlans(context, [suspended(name)]))[0]?.left;
  assert.deepEqual(await leftOf('a'), [], 'no reboot begins while it is suspended, but this one has');
  kube.remove(resources.nodePolicies, undefined, 'a');
  assert.partialDeepStrictEqual(await leftOf('a'), [{ node: 'node-1', reason: 'Suspended' }]);
});

test('a pass waits for policies that have work as long as they say, and for ten seconds at most', () => {
  const result = (name: string, more: object = {}) =>
    ({ name, reason: 'x', message: 'x', outcome: 'none', workRemains: true, ...more }) as const satisfies object;
  const wakesOn = (...results: readonly ReturnType<typeof result>[]) =>
    nodePolicyKind.waits.wakesOn(results as Parameters<typeof nodePolicyKind.waits.wakesOn>[0]);
  const atRest = result('rest', { workRemains: false });
  assert.deepEqual(wakesOn(atRest), []);
  const [first, ...others] = wakesOn(atRest, result('a', { afterSeconds: 60 }));
  assert.deepEqual([first?.wakes, others], [[{ on: 'time', afterSeconds: 10 }], []]);
  assert.deepEqual(wakesOn(result('a', { afterSeconds: 3 }))[0]?.wakes, [{ on: 'time', afterSeconds: 3 }]);
});
