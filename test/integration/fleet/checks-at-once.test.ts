import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { indexFor, mostShards } from '../../../reconcile/stepping/shard.ts';
import type { FakeKubeOptions, FakeRequest } from '../../support/fakes/kube.ts';
import { context, type Stage, setStage } from './checks-stage.ts';
import { wholePass } from './pass.ts';
import { clusterYaml } from './scene.ts';

/** Suspended, so that nothing about the clusters themselves changes what is told. */
const still = (name: string, replicas = 3) => clusterYaml(name, { replicas, extra: ', suspend: true' });

async function setQuietStage(options: FakeKubeOptions = {}): Promise<Stage> {
  const stage = await setStage({}, options);
  await stage.repository.commit({ 'c/orders.yaml': still('orders'), 'c/ads.yaml': still('ads') });
  for (let passes = 0; passes < 3; passes++) await wholePass(stage.scene);
  return stage;
}

function said({ forge }: Stage, head: string): readonly string[] {
  return forge.statuses.filter(({ sha }) => sha === head).map(({ state }) => state);
}

function verdictOf(fleet: EtcdFleet): string | undefined {
  const condition = fleet.status?.conditions?.find(({ type }) => type === 'RequestsChecked');
  return condition && `${condition.status} ${condition.reason}`;
}

test('of passes that look at once, one checks a request, and the others leave it to that one', async () => {
  await using stage = await setQuietStage();
  const { scene } = stage;
  const heads = [
    await stage.open(1, { 'c/orders.yaml': still('orders', 5) }),
    await stage.open(2, { 'c/ads.yaml': still('ads', 1) }),
  ];
  await Promise.all([wholePass(scene), wholePass(scene), wholePass(scene)]);
  await wholePass(scene);
  for (const head of heads) assert.deepEqual(said(stage, head), ['pending', 'success']);
  assert.equal(verdictOf(scene.fleet()), 'True Checked');
});

test('a check whose pass died is pending only until a tick takes it for dead', async () => {
  await using stage = await setQuietStage();
  const { scene, repository } = stage;
  const head = await stage.open(3, { 'c/orders.yaml': still('orders', 5) });
  const begun = async (secondsAgo: number) => {
    const begunAt = new Date(Date.now() - secondsAgo * 1000).toISOString();
    const target = await repository.git('rev-parse', 'main');
    const check = { number: '3', head, target, state: 'pending', description: 'its check was begun', begunAt } as const;
    const { status = { observedGeneration: -1 }, ...fleet } = scene.fleet();
    await scene.fake.updateStatus(resources.fleets, { ...fleet, status: { ...status, checks: [check] } });
  };
  await begun(20);
  await wholePass(scene);
  assert.deepEqual(said(stage, head), []);
  assert.equal(verdictOf(scene.fleet()), 'False ChecksWaiting');

  await begun(50);
  await wholePass(scene);
  assert.equal(stage.forge.statusesOf(head).get(context)?.state, 'success');
  assert.equal(verdictOf(scene.fleet()), 'True Checked');
});

test('a verdict that was found beside another one is found again, and told', async () => {
  let takeOver: (() => Promise<unknown>) | undefined;
  const before = async ({ key }: FakeRequest) => {
    if (key !== 'POST configmaps') return;
    const once = takeOver;
    takeOver = undefined;
    await once?.();
  };
  await using stage = await setQuietStage({ before });
  const { scene } = stage;
  const head = await stage.open(4, { 'c/orders.yaml': still('orders', 5) });
  // Before the report is kept another one, which took this pass for dead, has begun. It dies with the word pending.
  takeOver = () => {
    const { status = { observedGeneration: -1 }, ...fleet } = scene.fleet();
    const checks = (status.checks ?? []).map((check) => ({ ...check, begunAt: new Date(0).toISOString() }));
    return scene.fake.updateStatus(resources.fleets, { ...fleet, status: { ...status, checks } });
  };
  await wholePass(scene);
  assert.deepEqual(said(stage, head), ['pending', 'success']);
  assert.equal(verdictOf(scene.fleet()), 'False ChecksWaiting');
  await wholePass(scene);
  assert.deepEqual(said(stage, head), ['pending', 'success', 'pending', 'success']);
  assert.equal(verdictOf(scene.fleet()), 'True Checked');
  await wholePass(scene);
  assert.equal(said(stage, head).length, 4);
});

test('one Secret for Git, statuses and checks is read once in a pass', async () => {
  await using stage = await setQuietStage();
  const { scene, repository } = stage;
  const { spec, ...fleet } = scene.fleet();
  const git = { ...spec.git, secretName: 'forge' };
  await scene.fake.update(resources.fleets, { ...fleet, spec: { ...spec, git } } satisfies EtcdFleet);
  await repository.commit({ 'c/notes.md': 'a commit, which wants its statuses\n' }, { keep: true });
  const head = await stage.open(5, { 'c/orders.yaml': still('orders', 5) });
  const before = scene.fake.journal().length;
  await wholePass(scene);
  assert.deepEqual(said(stage, head), ['pending', 'success']);
  const read = scene.fake.journal().slice(before);
  assert.deepEqual(
    read.flatMap(({ key, name }) => (key === 'GET secrets' ? [name] : [])),
    ['forge'],
  );
});

test('a shard checks what it would take over as whole as without shards', async () => {
  const told = async (isShared: boolean) => {
    await using stage = await setQuietStage();
    const { scene, repository } = stage;
    const mine = clusterYaml('mine');
    const created = await scene.fake.create<EtcdCluster>(resources.clusters, parse(mine));
    // Its members are gone: nothing is born in their place.
    const status = { observedGeneration: 1, clusterID: 'a198e98718d1ab97' };
    await scene.fake.updateStatus<EtcdCluster>(resources.clusters, { ...created, status });
    await repository.commit({ 'c/notes.md': 'main goes on\n' }, { keep: true });
    await stage.open(6, { 'c/mine.yaml': mine });
    const index = indexFor(scene.fleet().metadata.uid ?? '', mostShards);
    await wholePass(scene, isShared ? { shard: { index, of: mostShards, missing: [] } } : {});
    const { report } = stage.reports().at(-1) ?? assert.fail();
    return report.clusters;
  };
  const whole = await told(false);
  assert.equal(whole[0]?.planned?.end.kind, 'refused');
  assert.deepEqual(await told(true), whole);
});
