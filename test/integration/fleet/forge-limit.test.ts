import assert from 'node:assert/strict';
import { test } from 'node:test';
import { context, setStage } from './checks-stage.ts';
import { wholePass } from './pass.ts';
import { clusterYaml } from './scene.ts';

/** Suspended, so that nothing about the clusters themselves changes what is told. */
const still = (name: string, replicas = 3) => clusterYaml(name, { replicas, extra: ', suspend: true' });

test('a forge that limits us is left alone until the time it named, or until a person asks', async () => {
  await using stage = await setStage();
  const { scene, forge, repository } = stage;
  await repository.commit({ 'c/orders.yaml': still('orders'), 'c/ads.yaml': still('ads') });
  for (let passes = 0; passes < 3; passes++) await wholePass(scene);
  const head = await stage.open(60, { 'c/orders.yaml': still('orders', 5) });
  const sha = await repository.commit({ 'c/notes.md': 'a new commit, which wants its statuses\n' }, { keep: true });
  forge.breakWith({ kind: 'status', status: 429, headers: { 'retry-after': '86400' } });
  await wholePass(scene);
  const { forgeRetryAfter = '' } = scene.fleet().status ?? {};
  const seconds = (Date.parse(forgeRetryAfter) - Date.now()) / 1000;
  assert.ok(seconds > 3_500 && seconds <= 3_601, `an hour at most, not ${seconds} s`);

  const asked = forge.requests.length;
  for (let passes = 0; passes < 3; passes++) await wholePass(scene);
  assert.equal(forge.requests.length, asked);
  for (const type of ['StatusesReported', 'RequestsChecked']) {
    const told = scene.fleet().status?.conditions?.find((one) => one.type === type);
    assert.deepEqual([told?.status, told?.reason], ['False', 'RateLimited']);
    assert.ok(told?.message.includes(forgeRetryAfter), told?.message);
  }
  assert.equal(scene.fleet().status?.forgeRetryAfter, forgeRetryAfter, 'which comes no later for being waited for');

  forge.breakWith(undefined);
  await scene.annotateFleet('production', 'etcd.ratchet.dev/reconcile', 'now');
  await wholePass(scene);
  assert.ok(forge.statusesOf(sha).has('etcd-ratchet/production'));
  assert.equal(forge.statusesOf(head).get(context)?.state, 'success');
  assert.equal(scene.fleet().status?.forgeRetryAfter, undefined);
  assert.ok(!scene.fleet().status?.conditions?.some(({ reason }) => reason === 'RateLimited'));
});

test('a limit that only the checks met is as good', async () => {
  await using stage = await setStage();
  const { scene, forge } = stage;
  for (let passes = 0; passes < 3; passes++) await wholePass(scene);
  forge.breakWith({
    kind: 'status',
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon() },
  });
  await wholePass(scene);
  const asked = forge.requests.length;
  await wholePass(scene);
  await wholePass(scene);
  assert.equal(forge.requests.length, asked);
});

test('a limit without a time is asked about by every pass', async () => {
  await using stage = await setStage();
  const { scene, forge } = stage;
  for (let passes = 0; passes < 3; passes++) await wholePass(scene);
  forge.breakWith({ kind: 'status', status: 429 });
  await wholePass(scene, { deadline: Date.now() + 4_000 });
  const asked = forge.requests.length;
  await wholePass(scene, { deadline: Date.now() + 4_000 });
  assert.ok(forge.requests.length > asked);
});

function soon(): string {
  return String(Math.floor(Date.now() / 1000) + 600);
}
