import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fleetSecretLabels } from '../../../functions/pass/secret.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { startStopwatch } from '../../support/awake.ts';
import { type ForgeServer, startForge } from '../../support/git/forge.ts';
import { startGitServer } from '../../support/git/server.ts';
import { wholePass } from './pass.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

const context = 'etcd-ratchet/good';

/**
 * How long it takes from the push until the cluster is there, has had its step, and the forge and the fleet know. What
 * is measured is waiting for others: the time without a processor is not.
 */
async function pushToGood(scene: Scene, forge: ForgeServer, files: Readonly<Record<string, string>>) {
  const sha = await scene.repository.commit(files);
  using watched = startStopwatch();
  const over = wholePass(scene);
  const isTold = () =>
    forge.statusesOf(sha).has(context) && scene.fleet('good').status?.revision?.applied === `main@sha1:${sha}`;
  let passed = false;
  void over.finally(() => {
    passed = true;
  });
  while (!isTold() && !passed) await new Promise((resolve) => setTimeout(resolve, 5));
  const told = watched.milliseconds();
  assert.ok(isTold(), 'the good fleet was not served');
  await over;
  return { told, whole: watched.milliseconds() };
}

test('beside a dead repository and a dead forge, a good fleet is done in its usual time', async (t: TestContext) => {
  await using scene = await setScene();
  await using forge = await startForge();
  await using deadForge = await startForge();
  await using deadGit = await startGitServer();
  const secret = { token: Buffer.from('x').toString('base64') };
  scene.fake.seed(resources.secrets, {
    metadata: { namespace: 'platform', name: 'forge', labels: fleetSecretLabels },
    ...{ data: secret },
  });
  const at = (apiURL: string) => ({ type: 'GitHub', apiURL, secretName: 'forge' }) as const;
  const repository = await scene.git.createRepository('team/good');
  const good: Scene = { ...scene, repository };
  scene.addFleet('good', { git: { url: repository.url, ref: 'main' }, forge: at(forge.url) });
  await pushToGood(good, forge, { 'a.yaml': clusterYaml('a') });
  const usual = await pushToGood(good, forge, { 'b.yaml': clusterYaml('b') });

  const silent = await deadGit.createRepository('team/silent');
  await silent.commit({ 'c.yaml': clusterYaml('silent') });
  deadGit.breakWith({ kind: 'hang' });
  deadForge.breakWith({ kind: 'hang' });
  scene.addFleet('silent', { git: { url: silent.url, ref: 'main' } });
  const untold = await scene.git.createRepository('team/untold');
  await untold.commit({ 'd.yaml': clusterYaml('untold') });
  scene.addFleet('untold', { git: { url: untold.url, ref: 'main' }, forge: at(deadForge.url) });

  const first = await pushToGood(good, forge, { 'e.yaml': clusterYaml('e') });
  const second = await pushToGood(good, forge, { 'f.yaml': clusterYaml('f') });
  t.diagnostic(`usual ${usual.told} ms, beside the dead ${first.told} ms, and known to be dead ${second.told} ms`);
  // The steps wait for a repository that has always answered: it may have something for them.
  assert.ok(first.told < usual.told + 4_000, `${first.told} ms instead of ${usual.told} ms`);
  assert.ok(first.whole > first.told + 3_000, 'the pass itself waits for them, within their budgets');
  assert.ok(second.told < usual.told + 1_000, `${second.told} ms instead of ${usual.told} ms`);

  assert.match(conditionOf(scene.fleet('silent').status, 'SourceReady')?.reason ?? '', /Aborted|Timeout/);
  assert.equal(conditionOf(scene.fleet('untold').status, 'StatusesReported')?.status, 'False');
  assert.equal(
    scene.fleet('untold').status?.history?.[0]?.outcome,
    'Applied',
    'a dead forge keeps nothing from being applied',
  );

  // And alone, as a webhook for it makes it: nobody else is even asked.
  const before = deadGit.requests.length;
  const sha = await repository.commit({ 'g.yaml': clusterYaml('g') });
  using watched = startStopwatch();
  await wholePass(scene, { fleet: { namespace: 'platform', name: 'good' } });
  assert.ok(watched.milliseconds() < usual.whole + 1_000);
  assert.equal(scene.fleet('good').status?.revision?.applied, `main@sha1:${sha}`);
  assert.equal(deadGit.requests.length, before);

  // Back again: the fleet that was not waited for is served all the same.
  deadGit.breakWith(undefined);
  deadForge.breakWith(undefined);
  await wholePass(scene);
  assert.equal(scene.fleet('silent').status?.history?.[0]?.outcome, 'Applied');
});
