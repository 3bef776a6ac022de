import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { signHead, writeObject } from '../../support/git/signed-objects.ts';
import { sshSigner } from '../../support/git/ssh-signing.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

const ada = sshSigner();
const mallory = sshSigner();

function trust(scene: Scene, data: Readonly<Record<string, string>>): void {
  scene.fake.seed(resources.configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'signers', namespace: 'platform' },
    data,
  } as never);
}

function addFleet(scene: Scene, mode: 'Head' | 'HeadAndMerges' | 'Tag', ref = 'main'): EtcdFleet {
  const git = { url: scene.repository.url, ref, path: '.', verify: { mode, configMapName: 'signers' } };
  return scene.addFleet('production', { git });
}

function signedBy(signer: ReturnType<typeof sshSigner>) {
  return (payload: Buffer) => signer.sign(payload);
}

test('a commit that a trusted key signed is applied, and the fleet says who signed it', async () => {
  await using scene = await setScene();
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  const sha = await signHead(scene.repository.directory, signedBy(ada));
  addFleet(scene, 'Head');
  await scene.pass();
  assert.ok(scene.cluster('orders'));
  const { status } = scene.fleet();
  assert.equal(status?.verification?.signedBy, 'ada@example.com');
  assert.equal(status?.verification?.revision, `main@sha1:${sha}`);
  assert.match(conditionOf(status, 'SourceReady')?.message ?? '', /signed by ada@example\.com \(SHA256:/);
});

test('nothing of a commit without a trusted signature is applied or pruned', async () => {
  await using scene = await setScene();
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  const good = await signHead(scene.repository.directory, signedBy(ada));
  addFleet(scene, 'Head');
  await scene.pass();
  const before = scene.cluster('orders');

  const unsigned = await scene.repository.commit({ 'users.yaml': clusterYaml('users') });
  await scene.pass();
  assert.deepEqual(scene.cluster('orders'), before);
  assert.equal(scene.cluster('users'), undefined);
  const { status } = scene.fleet();
  assert.equal(conditionOf(status, 'Stalled')?.reason, 'CommitNotSigned');
  assert.match(
    conditionOf(status, 'Stalled')?.message ?? '',
    new RegExp(`^commit ${unsigned.slice(0, 12)} is not signed: `),
  );
  assert.equal(status?.verification?.revision, `main@sha1:${good}`);
  assert.deepEqual(
    status?.history?.map(({ outcome }) => outcome),
    ['Unverified', 'Applied'],
  );

  await signHead(scene.repository.directory, signedBy(mallory));
  await scene.pass();
  assert.equal(conditionOf(scene.fleet().status, 'Stalled')?.reason, 'SignerNotTrusted');
  assert.equal(scene.cluster('users'), undefined);
});

test('a fleet that begins to ask is stalled by what it had applied, until that is signed', async () => {
  await using scene = await setScene();
  const { metadata, spec } = scene.addFleet('production', {
    git: { url: scene.repository.url, ref: 'main', path: '.' },
  });
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  await scene.pass();
  assert.ok(scene.cluster('orders'));
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  const { git } = spec;
  const verify = { mode: 'Head', configMapName: 'signers' } as const;
  await scene.fake.update<EtcdFleet>(resources.fleets, {
    ...scene.fleet(),
    spec: { ...spec, git: { ...git, verify } },
  });
  for (let passes = 0; passes < 3; passes++) {
    await scene.pass();
    assert.equal(conditionOf(scene.fleet().status, 'Stalled')?.reason, 'CommitNotSigned', `pass ${passes}`);
  }
  await signHead(scene.repository.directory, signedBy(ada));
  await scene.pass();
  assert.equal(scene.fleet().status?.verification?.signedBy, 'ada@example.com', metadata.name);
});

test('without keys that can be used nothing is applied, and the place of the mistake is told', async () => {
  await using scene = await setScene();
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  await signHead(scene.repository.directory, signedBy(ada));
  addFleet(scene, 'Head');
  const said = async () => {
    await scene.pass();
    assert.equal(scene.cluster('orders'), undefined);
    const stalled = conditionOf(scene.fleet().status, 'Stalled');
    assert.equal(stalled?.reason, 'TrustedKeysUnusable');
    return stalled?.message ?? '';
  };
  assert.match(await said(), /^there is no ConfigMap platform\/signers of spec\.git\.verify\.configMapName: create it/);
  trust(scene, {});
  assert.match(await said(), /holds no key/);
  trust(scene, { allowed_signers: `${ada.line('ada')}\nmallory ssh-ed25519 AAAA\n` });
  assert.match(await said(), /allowed_signers:2: its key can't be used/);
  trust(scene, { allowed_signers: ada.line('ada') });
  await scene.pass();
  assert.ok(scene.cluster('orders'));
});

test('HeadAndMerges refuses a signed push above an unsigned one, and a signed merge mends it', async () => {
  await using scene = await setScene();
  const { directory, commit, git } = scene.repository;
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  await commit({ 'orders.yaml': clusterYaml('orders') });
  const first = await signHead(directory, signedBy(ada));
  addFleet(scene, 'HeadAndMerges');
  await scene.pass();
  assert.equal(scene.fleet().status?.verification?.revision, `main@sha1:${first}`);

  const unsigned = await commit({ 'users.yaml': clusterYaml('users') }, { keep: true });
  await commit({ 'ads.yaml': clusterYaml('ads') }, { keep: true });
  const second = await signHead(directory, signedBy(ada));
  await scene.pass();
  const stalled = conditionOf(scene.fleet().status, 'Stalled');
  assert.equal(stalled?.reason, 'CommitNotSigned');
  assert.match(
    stalled?.message ?? '',
    new RegExp(`^commit ${unsigned.slice(0, 12)}, which came to main after ${first.slice(0, 12)}, is not signed: `),
  );
  assert.deepEqual([scene.cluster('users'), scene.cluster('ads')], [undefined, undefined]);

  const tree = await git('rev-parse', `${second}^{tree}`);
  const merge = await git('commit-tree', tree, '-p', first, '-p', second, '-m', 'Vouch');
  await git('update-ref', 'refs/heads/main', merge);
  const signed = await signHead(directory, signedBy(ada));
  await scene.pass();
  assert.ok(scene.cluster('users') && scene.cluster('ads'));
  assert.equal(scene.fleet().status?.verification?.revision, `main@sha1:${signed}`);
});

test('a branch that is set back to an older signed commit is refused by HeadAndMerges', async () => {
  await using scene = await setScene();
  const { directory, commit, git } = scene.repository;
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  await commit({ 'orders.yaml': clusterYaml('orders', { replicas: 1 }) });
  const old = await signHead(directory, signedBy(ada));
  await commit({ 'orders.yaml': clusterYaml('orders') });
  await signHead(directory, signedBy(ada));
  addFleet(scene, 'HeadAndMerges');
  await scene.pass();
  await git('update-ref', 'refs/heads/main', old);
  await scene.pass();
  const stalled = conditionOf(scene.fleet().status, 'Stalled');
  assert.equal(stalled?.reason, 'HistoryNotVerified');
  assert.match(stalled?.message ?? '', /does not contain [0-9a-f]{12}, which was verified last on main/);
  assert.equal(scene.cluster('orders')?.spec.replicas, 3);
});

test('nor is it set back where an invocation dies before it reports what it applied', async () => {
  await using scene = await setScene();
  const { directory, commit, git } = scene.repository;
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  await commit({ 'orders.yaml': clusterYaml('orders', { replicas: 1 }) });
  const old = await signHead(directory, signedBy(ada));
  addFleet(scene, 'HeadAndMerges');
  await scene.pass();
  await commit({ 'orders.yaml': clusterYaml('orders') }, { keep: true });
  const newer = await signHead(directory, signedBy(ada));
  await scene.passThatDies();
  assert.deepEqual(
    [scene.cluster('orders')?.spec.replicas, scene.fleet().status?.revision?.applied],
    [3, `main@sha1:${old}`],
  );
  await git('update-ref', 'refs/heads/main', old);
  await scene.pass();
  assert.equal(scene.cluster('orders')?.spec.replicas, 3);
  assert.equal(conditionOf(scene.fleet().status, 'Stalled')?.reason, 'HistoryNotVerified');
  assert.equal(scene.fleet().status?.verification?.revision, `main@sha1:${newer}`);
});

test('a branch that goes round the last verified commit by a signed merge of it is taken', async () => {
  await using scene = await setScene();
  const { directory, commit, git } = scene.repository;
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  await commit({ 'orders.yaml': clusterYaml('orders') });
  const base = await signHead(directory, signedBy(ada));
  await commit({ 'users.yaml': clusterYaml('users') }, { keep: true });
  const verified = await signHead(directory, signedBy(ada));
  addFleet(scene, 'HeadAndMerges');
  await scene.pass();

  // As `git pull` on another branch makes it: what was verified is the second parent.
  const tree = await git('rev-parse', `${verified}^{tree}`);
  await git('update-ref', 'refs/heads/main', await git('commit-tree', tree, '-p', base, '-m', 'Side'));
  const side = await signHead(directory, signedBy(ada));
  const merge = await git('commit-tree', tree, '-p', side, '-p', verified, '-m', 'Merge');
  await git('update-ref', 'refs/heads/main', merge);
  const head = await signHead(directory, signedBy(ada));
  await scene.pass();
  assert.equal(scene.fleet().status?.verification?.revision, `main@sha1:${head}`);

  const unsigned = await git('commit-tree', tree, '-p', base, '-m', 'Side');
  const around = await git('commit-tree', tree, '-p', unsigned, '-p', head, '-m', 'Merge');
  await git('update-ref', 'refs/heads/main', around);
  await signHead(directory, signedBy(ada));
  await scene.pass();
  assert.match(conditionOf(scene.fleet().status, 'Stalled')?.message ?? '', new RegExp(unsigned.slice(0, 12)));
});

test('a tag counts by its own signature, its own name and the commit that it names', async () => {
  await using scene = await setScene();
  const { directory, commit, git } = scene.repository;
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  const sha = await commit({ 'orders.yaml': clusterYaml('orders') });
  addFleet(scene, 'Tag', 'v1');
  const tagged = (name: string) =>
    Buffer.from(`object ${sha}\ntype commit\ntag ${name}\ntagger Ada <ada@example.com> 1793527200 +0000\n\nOne\n`);
  const refusal = async () => {
    await scene.pass();
    assert.equal(scene.cluster('orders'), undefined);
    return conditionOf(scene.fleet().status, 'Stalled')?.message ?? '';
  };
  await git('tag', 'v1', sha);
  assert.match(await refusal(), /^tag v1 is not signed/);
  const point = async (bytes: Buffer) => git('update-ref', 'refs/tags/v1', await writeObject(directory, 'tag', bytes));
  await point(tagged('v1'));
  assert.match(await refusal(), /^tag v1 is not signed/);
  const other = tagged('v0');
  await point(Buffer.concat([other, Buffer.from(ada.sign(other))]));
  assert.match(await refusal(), /^tag v1 was signed under another name/);
  const own = tagged('v1');
  await point(Buffer.concat([own, Buffer.from(mallory.sign(own))]));
  assert.match(await refusal(), /^tag v1 is signed by SSH key SHA256:\S+, which is not trusted/);
  await point(Buffer.concat([own, Buffer.from(ada.sign(own))]));
  await scene.pass();
  assert.ok(scene.cluster('orders'));
  assert.equal(scene.fleet().status?.verification?.mode, 'Tag');
});

test('mode Tag at a branch says what to name instead', async () => {
  await using scene = await setScene();
  trust(scene, { allowed_signers: ada.line('ada@example.com') });
  await scene.repository.commit({ 'orders.yaml': clusterYaml('orders') });
  await signHead(scene.repository.directory, signedBy(ada));
  addFleet(scene, 'Tag');
  await scene.pass();
  assert.match(
    conditionOf(scene.fleet().status, 'Stalled')?.message ?? '',
    /main is no tag: name one in spec\.git\.ref/,
  );
});
