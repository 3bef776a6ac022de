import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkKeys } from '../../../manifests/api/check-report.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { type Stage, setStage } from './checks-stage.ts';
import { clusterYaml } from './scene.ts';

/** What a request's plan showed goes with its documents, however they come to the branch. */

const shownOf = (stage: Stage, name: string) =>
  stage.scene.cluster(name)?.metadata.annotations?.[annotations.shownPlan];

test('a document whose plan was shown bears it, also by a squash, until it changes again', async () => {
  await using stage = await setStage();
  const five = clusterYaml('orders', { replicas: 5 });
  await stage.open(17, { 'c/orders.yaml': five });
  await stage.check();
  await stage.repository.commit({ 'c/orders.yaml': five, 'c/other.yaml': clusterYaml('other') }, { keep: true });
  await stage.scene.pass();
  assert.equal(shownOf(stage, 'orders'), '17/0/0');
  for (const name of ['ads', 'other']) assert.equal(shownOf(stage, name), undefined, 'no plan of it was shown');
  await stage.repository.commit({ 'c/orders.yaml': clusterYaml('orders', { replicas: 7 }) }, { keep: true });
  await stage.scene.pass();
  assert.equal(shownOf(stage, 'orders'), undefined);
});

test('reports that are broken, of others or of a refused request show nothing, and stop no apply', async () => {
  await using stage = await setStage();
  const five = clusterYaml('orders', { replicas: 5 });
  const head = await stage.open(17, { 'c/orders.yaml': five });
  await stage.check();
  const [kept = assert.fail('no report')] = stage.scene.fake.stored<ConfigMap>(resources.configMaps);
  const change = (json: string) =>
    stage.scene.fake.update<ConfigMap>(resources.configMaps, {
      ...live(),
      data: { ...kept.data, [checkKeys.json]: json },
    });
  const live = () => stage.scene.fake.stored<ConfigMap>(resources.configMaps)[0] ?? kept;
  const report = JSON.parse(kept.data?.[checkKeys.json] ?? '{}');
  for (const json of [
    '{',
    'null',
    '[]',
    JSON.stringify({ ...report, clusters: 'none' }),
    JSON.stringify({ ...report, clusters: [null] }),
    JSON.stringify({ ...report, clusters: [{ ...report.clusters[0], planned: 'none' }] }),
    JSON.stringify({ ...report, clusters: [{ ...report.clusters[0], planned: { costs: { restarts: 'all' } } }] }),
    JSON.stringify({ ...report, clusters: [{ ...report.clusters[0], planned: { costs: null } }] }),
    JSON.stringify({
      ...report,
      clusters: [{ ...report.clusters[0], planned: { costs: { restarts: -3, removals: 0 } } }],
    }),
    JSON.stringify({ ...report, request: { number: '9'.repeat(300_000) } }),
    JSON.stringify({ ...report, deletions: [7] }),
    JSON.stringify({ ...report, state: 'failure' }),
    JSON.stringify({ ...report, head: head.replace(/./g, '0') }),
    JSON.stringify({ ...report, request: { number: 17 } }),
  ]) {
    await change(json);
    await stage.repository.commit({ 'c/orders.yaml': five, 'c/note.txt': json }, { keep: true });
    const result = await stage.scene.pass();
    assert.equal(result.kind === 'done' && result.outcome.applied, true, json);
    assert.equal(shownOf(stage, 'orders'), undefined, json);
  }
});

test('data that a plan showed to stay do not go with the deletion before a person confirms it', async () => {
  await using stage = await setStage({ prune: true });
  const deleting = clusterYaml('orders', { extra: ', volumeRetention: {whenDeleted: Delete}' });
  await stage.open(17, { 'c/orders.yaml': undefined });
  await stage.check();
  assert.deepEqual(stage.reports()[0]?.report.deletions, [{ namespace: 'payments', name: 'orders' }]);
  await stage.repository.commit({ 'c/orders.yaml': deleting }, { keep: true });
  await stage.scene.pass();
  await stage.repository.commit({ 'c/orders.yaml': undefined }, { keep: true });
  await stage.scene.pass();
  assert.ok(stage.scene.cluster('orders'), 'it is still there');
  const unlisted = () => conditionOf(stage.scene.fleet().status, 'Unlisted');
  assert.equal(unlisted()?.reason, 'NeedsConfirmation');
  assert.match(unlisted()?.message ?? '', /data that a plan showed to stay, must be confirmed/);

  // Also once the request is closed, its report forgotten, and another commit has come.
  stage.forge.pulls.length = 0;
  await stage.check();
  assert.deepEqual(stage.reports(), []);
  for (const note of ['one', 'two']) {
    await stage.repository.commit({ 'c/note.txt': note }, { keep: true });
    await stage.scene.pass();
    assert.ok(stage.scene.cluster('orders'), note);
  }
  const { value = assert.fail('nothing is asked') } = stage.scene.fleet().status?.approvals?.[0] ?? {};
  await stage.scene.annotateFleet('production', annotations.confirmPrune, value);
  await stage.scene.pass();
  assert.equal(stage.scene.cluster('orders'), undefined, 'a person confirmed it');

  // The plan of now says that they go.
  await using other = await setStage({ prune: true });
  await other.repository.commit({ 'c/orders.yaml': deleting }, { keep: true });
  await other.scene.pass();
  await other.open(18, { 'c/orders.yaml': undefined });
  await other.check();
  assert.match(other.reports()[0]?.markdown ?? '', /\*\*payments\/orders is deleted, and its data\*\*/);
  await other.repository.commit({ 'c/orders.yaml': undefined }, { keep: true });
  await other.scene.pass();
  assert.equal(other.scene.cluster('orders'), undefined);
});

test('of many requests the newest are compared', async () => {
  await using stage = await setStage();
  const asked = (replicas: number) => ({ 'c/orders.yaml': clusterYaml('orders', { replicas }) });
  for (let number = 11; number <= 20; number++) {
    await stage.open(number, asked(number === 20 ? 5 : 7));
    await stage.check();
  }
  await stage.repository.commit(asked(5), { keep: true });
  await stage.scene.pass();
  assert.equal(shownOf(stage, 'orders'), '20/0/0');
});
