import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseReport } from '../../../functions/page/check-report.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { signHead } from '../../support/git/signed-objects.ts';
import { sshSigner } from '../../support/git/ssh-signing.ts';
import { context, type Stage, setStage } from './checks-stage.ts';
import { wholePass } from './pass.ts';
import { clusterYaml } from './scene.ts';

const ada = sshSigner();
const byAda = (payload: Buffer) => ada.sign(payload);

async function asks(stage: Stage, mode: 'Head' | 'HeadAndMerges', keys: Readonly<Record<string, string>> | undefined) {
  const { scene } = stage;
  const live = scene.fleet();
  const git = { ...live.spec.git, verify: { mode, configMapName: 'signers' } };
  await scene.fake.update<EtcdFleet>(resources.fleets, { ...live, spec: { ...live.spec, git } });
  if (keys)
    scene.fake.seed(resources.configMaps, { metadata: { name: 'signers', namespace: 'platform' }, ...{ data: keys } });
}

const trusted = { allowed_signers: ada.line('ada@example.com') };

test('a plan says that the head may not be moved to, and fails nothing: a merge may be signed', async () => {
  await using stage = await setStage();
  await asks(stage, 'Head', trusted);
  const head = await stage.open(1, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.check();
  const status = stage.forge.statusesOf(head).get(context);
  assert.equal(status?.state, 'success');
  assert.match(status?.description ?? '', /^stock: new/);
  const [kept] = stage.reports();
  assert.match(
    kept?.report.signatures ?? '',
    new RegExp(`not by fast-forward: commit ${head.slice(0, 12)} is not signed`),
  );
  assert.match(kept?.markdown ?? '', /#### Signatures\n\n- Merge it by a commit that is signed, not by fast-forward/);
  assert.deepEqual(parseReport(JSON.stringify(kept?.report)), kept?.report, 'the page can read it');
});

test('of a head that a trusted person signed, a plan says nothing', async () => {
  await using stage = await setStage();
  await asks(stage, 'Head', trusted);
  const number = 1;
  await stage.open(number, { 'c/stock.yaml': clusterYaml('stock') });
  const head = await signHead(stage.repository.directory, byAda, `request-${number}`);
  const pulls = stage.forge.pulls.map((pull) => ({ ...pull, headSha: head }));
  stage.forge.pulls.splice(0, pulls.length, ...pulls);
  await stage.check();
  assert.equal(stage.forge.statusesOf(head).get(context)?.state, 'success');
  assert.equal(stage.reports()[0]?.report.signatures, undefined);
});

test('a plan fails where its branch is refused: so is every merge into it', async () => {
  await using stage = await setStage();
  const { scene, repository, forge } = stage;
  await signHead(repository.directory, byAda);
  await asks(stage, 'HeadAndMerges', trusted);
  await wholePass(scene);
  assert.ok(scene.fleet().status?.verification);
  const unsigned = await repository.commit({ 'c/late.yaml': clusterYaml('late') }, { keep: true });
  const head = await stage.open(1, { 'c/stock.yaml': clusterYaml('stock') });
  // A whole pass: also a fleet whose branch is refused has its requests checked.
  await wholePass(scene);
  assert.equal(conditionOf(scene.fleet().status, 'Stalled')?.reason, 'CommitNotSigned');
  const ofCommit = forge.statusesOf(unsigned).get('etcd-ratchet/production');
  assert.equal(ofCommit?.state, 'failure');
  assert.match(
    ofCommit?.description ?? '',
    new RegExp(`^commit ${unsigned.slice(0, 12)} is not signed: sign it with a key`),
  );
  const status = forge.statusesOf(head).get(context);
  assert.equal(status?.state, 'failure');
  assert.match(
    status?.description ?? '',
    new RegExp(`^c: merging is refused: commit ${unsigned.slice(0, 12)} is not signed`),
  );
  assert.equal(scene.cluster('stock'), undefined);
});

test('where the keys can not be used, the plan says so, and is made again when they can', async () => {
  await using stage = await setStage();
  await asks(stage, 'Head', undefined);
  const head = await stage.open(1, { 'c/stock.yaml': clusterYaml('stock') });
  const said = async () => {
    await stage.check();
    const { state = '', description = '' } = stage.forge.statusesOf(head).get(context) ?? {};
    return `${state}: ${description}`;
  };
  assert.match(
    await said(),
    /^error: could not be checked: merging is refused: there is no ConfigMap platform\/signers/,
  );
  await asks(stage, 'Head', { allowed_signers: 'nonsense' });
  assert.match(await said(), /^error: .*merging is refused: ConfigMap signers .*allowed_signers:1: /);
  await asks(stage, 'Head', trusted);
  assert.match(await said(), /^success: stock: new/);
});
