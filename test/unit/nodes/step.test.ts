import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Event } from '../../../manifests/kube-types.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import type { NodePolicyResult } from '../../../reconcile/nodes/step.ts';
import { type NodesWorld, nodesWorld } from '../../support/world/nodes.ts';

/** What a step says of itself: to whoever takes the next one, and to people. */

async function results(stage: NodesWorld, until: (result: NodePolicyResult) => boolean, limit = 40) {
  const all: NodePolicyResult[] = [];
  while (all.length < limit) {
    const [result] = (await stage.step()) ?? [];
    assert.ok(result);
    all.push(result);
    if (until(result)) return all;
    await stage.pass();
  }
  return assert.fail(all.map(({ reason, message }) => `${reason}: ${message}`).join('\n'));
}

/** Of an event: its type, and what it is about. */
const events = ({ world }: NodesWorld) =>
  world.state.kube
    .stored<Event>(resources.events)
    .flatMap(({ action, regarding, reason, type }) =>
      action === 'Reboot' ? [`${type} ${regarding?.name} ${reason}`] : [],
    );

/** Until it is told otherwise. */
function refusing(t: TestContext, { world }: NodesWorld): void {
  const facts = { class: 'terminal', status: 403, reason: 'Forbidden' } as const;
  const { kube } = world.state;
  const create = kube.create.bind(kube);
  t.mock.method(kube, 'create', (async (resource, object, options) => {
    if (resource.kind === resources.jobs.kind) throw new KubeError('POST jobs: 403 exceeded quota', facts);
    return await create(resource, object, options);
  }) satisfies typeof kube.create);
}

test('a step that acted is followed at once, one that waits in seconds, one at rest by none', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  stage.ask('node-2');
  const blocked = [{ node: 'node-9', reason: 'Granted', message: 'node-9 begins' }];
  const policy = { ...stage.policy(), status: { observedGeneration: 1, blocked } };
  stage.world.state.kube.seed(resources.nodePolicies, policy);
  const all = await results(stage, ({ reason }) => reason === 'NothingToDo', 80);
  const [first, ...more] = all;
  assert.equal(events(stage)[0], 'Normal node-1 Granted', 'though another node was told the same before');
  assert.partialDeepStrictEqual(first, { reason: 'Granted', outcome: 'acted', workRemains: true, afterSeconds: 0 });
  assert.match(first?.message ?? '', /^node-1 begins/);
  assert.deepEqual(more.at(-1), {
    ...{ name: 'all', reason: 'NothingToDo', message: 'no node needs a reboot' },
    ...{ outcome: 'none', workRemains: false },
  });
  for (const { reason, outcome, workRemains, afterSeconds = -1 } of more.slice(0, -1)) {
    assert.ok(workRemains, reason);
    assert.ok(outcome === 'acted' ? afterSeconds === 0 : afterSeconds >= 1 && afterSeconds <= 5, reason);
  }
  assert.ok(more.some(({ outcome, reason }) => outcome === 'none' && reason === 'Rebooting'));
  assert.deepEqual(new Set(events(stage).map((event) => event.split(' ')[0])), new Set(['Normal']));
});

test('what is refused is told once, as a warning, and is not tried again at once', async (t) => {
  const stage = await nodesWorld();
  refusing(t, stage);
  stage.ask('node-1');
  const isRefused = ({ reason, outcome }: NodePolicyResult) => `${reason} ${outcome}` === 'JobRefused failed';
  const refused = (await results(stage, isRefused)).at(-1);
  assert.partialDeepStrictEqual(refused, { workRemains: true, afterSeconds: 5 });
  await stage.pass();
  await results(stage, isRefused);
  const told = events(stage).filter((event) => event.endsWith('JobRefused'));
  assert.deepEqual(told, ['Warning node-1 JobRefused']);
});

test('what etcd refuses is a failure, and is not taken for another invocation that was faster', async () => {
  const stage = await nodesWorld();
  stage.ask('node-1');
  const [formation = assert.fail()] = stage.world.state.formations.values();
  for (let steps = 0; steps < 10; steps += 1) {
    const { members, leader } = formation;
    const before = () => {
      formation.members = members.map((member) => ({ ...member, isLearner: member.id !== leader }));
    };
    const [result] = (await stage.step({ before })) ?? [];
    formation.members = members;
    if (result?.reason === 'MovingLeaders') return assert.equal(result.outcome, 'failed');
    await stage.pass();
  }
  assert.fail('leadership was never to move');
});

test('what a disruption budget keeps is tried again in seconds', async (t) => {
  const stage = await nodesWorld({ drain: { unmanagedPods: 'Evict' } });
  stage.seedPod({
    metadata: { name: 'web', namespace: 'shop', uid: 'web' },
    spec: { nodeName: 'node-1', containers: [] },
    status: { phase: 'Running' },
  });
  t.mock.method(stage.world.state.kube, 'evict', async () => {
    const facts = { class: 'retryable', status: 429, reason: 'TooManyRequests', causes: ['DisruptionBudget'] } as const;
    throw new KubeError('it would violate the disruption budget', facts);
  });
  stage.ask('node-1');
  const kept = (await results(stage, ({ reason }) => reason === 'EvictionRefused')).at(-1);
  assert.partialDeepStrictEqual(kept, { outcome: 'acted', workRemains: true, afterSeconds: 5 });
  assert.ok(events(stage).includes('Warning node-1 EvictionRefused'));
});

test('a node that does not come back is one warning, and its policy is left to the ticks', async () => {
  const stage = await nodesWorld({ reboot: { timeout: '2m' } });
  stage.ask('node-1');
  stage.break('node-1', true);
  const stuck = await results(stage, ({ reason }) => reason === 'NodeNotBack', 80);
  const { afterSeconds, workRemains, outcome } = stuck.at(-1) ?? assert.fail();
  assert.deepEqual([outcome, workRemains, afterSeconds], ['none', false, undefined]);
  await stage.pass();
  await stage.step();
  assert.deepEqual(
    events(stage).filter((event) => event.startsWith('Warning')),
    ['Warning node-1 NodeNotBack'],
  );
});
