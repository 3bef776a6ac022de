import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import type { Event } from '../../../manifests/kube-types.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { nodesWorld } from '../../support/world/nodes.ts';
import { passIn } from '../../support/world/passing.ts';
import { createWorld } from '../../support/world/world.ts';

test('a pass looks at node policies after the first step of each cluster', async () => {
  const world = createWorld();
  await world.apply();
  const { kube } = world;
  await pass(passIn(world));
  const keys = kube.journal().map(({ key }) => key);
  const stepped = keys.lastIndexOf('PUT etcdclusters/status');
  const looked = keys.indexOf('LIST etcdnodepolicies');
  assert.ok(stepped >= 0 && looked > stepped, keys.join());
});

test('a dry run writes nothing and asks no Prometheus, and a policy at rest asks none either', async () => {
  const stage = await nodesWorld({ blockedByAlerts: { url: 'http://prometheus:9090' } });
  let asked = 0;
  stage.alerts(() => {
    asked += 1;
    return '{"status":"success","data":{"alerts":[]}}';
  });
  await stage.step();
  stage.ask('node-1');
  const before = stage.world.state.kube.journal().length;
  await stage.step({}, true);
  const written = stage.world.state.kube
    .journal()
    .slice(before)
    .filter(({ verb }) => !/^(LIST|GET)$/.test(verb));
  assert.deepEqual([written, asked], [[], 0]);
  await stage.step();
  assert.equal(asked, 1);
});

test('no pods are listed of a node that may not begin', async () => {
  const stage = await nodesWorld({ suspend: true });
  stage.ask('node-1');
  const before = stage.world.state.kube.journal().length;
  await stage.step();
  const keys = stage.world.state.kube
    .journal()
    .slice(before)
    .map(({ key }) => key);
  assert.ok(!keys.includes('LIST pods'), keys.join());
});

test('a step that another write has overtaken tells nothing, and the next one goes on', async () => {
  const stage = await nodesWorld();
  assert.equal((await stage.step())?.[0]?.outcome, 'none');
  stage.ask('node-1');
  await stage.step();
  stage.withdraw('node-1');
  // The kubelet is faster than the step.
  const before = () => stage.annotate('node-1', { heartbeat: 'now' });
  assert.equal((await stage.step({ before }))?.[0]?.outcome, 'lost');
  assert.equal((await stage.step())?.[0]?.outcome, 'acted');
});

test('a status that was overtaken is lost, and one that could not be written has failed', async () => {
  const stage = await nodesWorld({ suspend: true });
  stage.ask('node-1');
  const overtakes = () => {
    const { metadata, ...rest } = stage.policy();
    stage.world.state.kube.seed(resources.nodePolicies, { ...rest, metadata: { ...metadata, labels: { team: 'a' } } });
  };
  const fails = () => {
    throw new KubeError('503', { class: 'retryable', status: 503, reason: 'ServiceUnavailable' });
  };
  assert.equal((await stage.step({ before: overtakes }))?.[0]?.outcome, 'lost');
  assert.equal((await stage.step({ before: fails }))?.[0]?.outcome, 'failed');
});

test('an event tells each deed of a reboot, and of no node that waits', async () => {
  const stage = await nodesWorld();
  const told = () =>
    stage.world.state.kube
      .stored<Event>(resources.events)
      .flatMap(({ action, regarding, reason }) => (action === 'Reboot' ? [`${regarding?.name} ${reason}`] : []));
  stage.ask('node-1');
  stage.ask('node-2');
  await stage.step();
  assert.deepEqual(told(), ['node-1 Granted']);
  for (let passes = 0; !told().includes('node-1 RebootDone') && passes < 40; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  for (const reason of ['MovingLeaders', 'EvictingMembers', 'Rebooting', 'Returned', 'RebootDone'])
    assert.ok(told().includes(`node-1 ${reason}`), `${reason}: ${told()}`);
});

test('a Job that could not be made for a moment is not told as one that was refused', async (t) => {
  const stage = await nodesWorld();
  const { kube } = stage.world.state;
  stage.ask('node-1');
  const create = kube.create.bind(kube);
  t.mock.method(kube, 'create', (async (resource, object, options) => {
    if (resource.kind !== resources.jobs.kind) return await create(resource, object, options);
    throw new KubeError('POST jobs: 503', { class: 'retryable', status: 503, reason: 'ServiceUnavailable' });
  }) satisfies typeof kube.create);
  const blocked = () => stage.policy().status?.blocked?.[0];
  for (let passes = 0; !/503/.test(blocked()?.message ?? '') && passes < 20; passes += 1) {
    await stage.step();
    await stage.pass();
  }
  assert.equal(blocked()?.reason, 'Rebooting', JSON.stringify(stage.policy().status));
});
