import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseReport } from '../../../functions/page/check-report.ts';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { context, setStage } from './checks-stage.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

/** Node policies in a fleet's repository: they belong to no namespace. */

const policyYaml = (name: string, spec = '  nodeSelector: {}') => `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdNodePolicy
metadata: { name: ${name} }
spec:
${spec}
`;

const files = { 'a.yaml': clusterYaml('orders'), 'n.yaml': policyYaml('workers') };

const policies = ({ fake }: Scene) => fake.stored<EtcdNodePolicy>(resources.nodePolicies);
const ready = (scene: Scene) => {
  const { reason, message } = conditionOf(scene.fleet().status, 'Ready') ?? {};
  return `${reason}: ${message}`;
};

async function applied(prune = false): Promise<Scene> {
  const scene = await setScene();
  await scene.repository.commit(files);
  scene.addFleet('production', { prune });
  await scene.pass();
  return scene;
}

test('a commit brings a node policy without a namespace, and the next one changes it', async () => {
  await using scene = await applied();
  const [one] = policies(scene);
  assert.equal(one?.metadata.namespace, undefined);
  assert.equal(one?.metadata.annotations?.[annotations.fleetName], 'platform/production');
  assert.partialDeepStrictEqual(scene.fleet().status?.inventory, [
    { kind: 'EtcdNodePolicy', namespace: '', name: 'workers', source: 'n.yaml' },
  ]);
  const before = scene.git.requests.length;
  await scene.pass();
  assert.equal(scene.git.requests.length - before, 1, 'that is settled');
  await scene.repository.commit({ ...files, 'n.yaml': policyYaml('workers', '  nodeSelector: {}\n  suspend: true') });
  await scene.pass();
  assert.equal(policies(scene)[0]?.spec.suspend, true);
  // A person deletes it by hand: Git has it.
  scene.fake.remove(resources.nodePolicies, undefined, 'workers');
  await scene.pass();
  assert.equal(policies(scene).length, 1);
});

test('a node policy that Git no longer lists is deleted only where pruning is asked for', async () => {
  for (const prune of [false, true]) {
    await using scene = await applied(prune);
    await scene.repository.commit({ 'a.yaml': files['a.yaml'] });
    await scene.pass();
    assert.equal(policies(scene).length, prune ? 0 : 1);
    if (!prune) assert.match(conditionOf(scene.fleet().status, 'Unlisted')?.message ?? '', /EtcdNodePolicy\/workers/);
  }
});

test("a node policy of another fleet is no other fleet's to change", async () => {
  await using scene = await applied();
  scene.addFleet('other');
  await scene.pass('other');
  const message = conditionOf(scene.fleet('other').status, 'Ready')?.message ?? '';
  assert.match(message, /belongs to fleet platform\/production/);
  assert.equal(policies(scene)[0]?.metadata.annotations?.[annotations.fleetName], 'platform/production');
});

test('a fleet whose account may not write node policies is told so, and its clusters are applied', async () => {
  await using scene = await setScene({
    authorize: ({ resource, user }) => user === undefined || resource.plural === 'etcdclusters',
  });
  await scene.repository.commit(files);
  scene.addFleet('production');
  await scene.pass();
  assert.equal(scene.clusters().length, 1);
  assert.deepEqual(policies(scene), []);
  assert.match(ready(scene), /^DocumentsRefused: n\.yaml:1:1: EtcdNodePolicy workers is forbidden/);
});

test('a change request says which nodes a policy would reboot, in which order', async () => {
  await using stage = await setStage();
  const { fake } = stage.scene;
  const say = { [annotations.rebootNeeded]: 'kernel <b>5</b>' };
  for (const name of ['node-2', 'node-1'])
    fake.seed(resources.nodes, {
      metadata: { name, uid: name, annotations: say },
      ...{ status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: `${name}-boot` } } },
    });
  const head = await stage.open(1, { 'c/n.yaml': policyYaml('workers') });
  await stage.check({ rebootsIn: 'etcd-ratchet-reboots' });
  assert.equal(stage.forge.statusesOf(head).get(context)?.description, 'workers: new node policy');
  const [kept] = stage.reports();
  assert.deepEqual(kept?.report.sections, [
    { title: 'node policy workers  2 reboots', lines: ['1. node-1 (kernel <b>5</b>)', '2. node-2 (kernel <b>5</b>)'] },
  ]);
  assert.match(kept?.markdown ?? '', /2\\?\. node-2/);
  assert.doesNotMatch(kept?.markdown ?? '', /<b>/, 'what a Node says is text');
  assert.deepEqual(parseReport(JSON.stringify(kept?.report)), kept?.report, 'the page can read it');
  assert.deepEqual(policies(stage.scene), []);

  const wrong = await stage.open(2, { 'c/n.yaml': policyYaml('workers', '  nodeSelector: {}\n  maxUnavailable: 0') });
  await stage.check({ rebootsIn: 'etcd-ratchet-reboots' });
  const { state, description = '' } = stage.forge.statusesOf(wrong).get(context) ?? {};
  assert.equal(state, 'failure');
  assert.match(description, /^c\/n\.yaml:6:19: spec\.maxUnavailable /);
});
