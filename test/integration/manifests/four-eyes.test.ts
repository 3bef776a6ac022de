import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { annotations, approvals, approverOf, labels } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { until } from '../../e2e/support/until.ts';
import { startGitServer } from '../../support/git/server.ts';
import { signHead } from '../../support/git/signed-objects.ts';
import { signerWith } from '../../support/git/ssh-signing.ts';
import { clusterYaml } from '../fleet/scene.ts';
import { install, startApiServer } from './api-server.ts';
import { passOfFleet } from './pass-of-fleet.ts';
import { untilAllowed } from './until-allowed.ts';

/** Four eyes (`spec.approvals.notByAuthor`): two users of a real API server, and commits that one of them signs. */

const api = await startApiServer();
const server = await startGitServer();
const repository = await server.createRepository('etcd');
const ada = signerWith('ssh-ed25519', generateKeyPairSync('ed25519').privateKey);
after(async () => {
  await server.stop();
  await api[Symbol.asyncDispose]();
});
await api.kubectl(['apply', '-k', install]);
await api.kubectl(['create', 'namespace', 'payments']);
const fleetMay = ['create', 'rolebinding', 'etcd-ratchet-fleet', '--clusterrole=etcd-ratchet-fleet'];
await api.kubectl(['-n', 'payments', ...fleetMay, '--serviceaccount=etcd-ratchet:fleet']);
for (const user of ['ada', 'grace'])
  for (const namespace of ['payments', 'etcd-ratchet'])
    for (const role of ['admin', 'etcd-ratchet-approve'])
      await api.kubectl([
        ...['-n', namespace, 'create', 'rolebinding', `${user}-${role}`],
        ...[`--clusterrole=${role}`, `--user=${user}`],
      ]);
const kube = await api.kubeOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' });

const fleetName = 'etcdfleets.etcd.ratchet.dev/production';
const as = (user: string, namespace: string, ...args: readonly string[]) =>
  api.kubectl([`--as=${user}`, '-n', namespace, ...args]);
const annotate = (user: string, ...given: readonly string[]) =>
  as(user, 'etcd-ratchet', 'annotate', '--overwrite', fleetName, ...given);
const named = (approval: string, by: string) => `${approverOf(approval)}=${by}`;

const confirm = annotations.confirmPrune;
const people = [{ usernames: ['ada'], signers: ['ada@example.com'] }, { usernames: ['grace'] }];
const git = { url: repository.url, ref: 'main', verify: { mode: 'Head', configMapName: 'signers' } };

const create = (object: object) => api.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(object) });

function fleetWith(spec: object): object {
  const metadata = { name: 'production', namespace: 'etcd-ratchet' };
  return { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdFleet', metadata, spec };
}

const fleetLabelPath = `{.metadata.labels.${labels.fleet.replaceAll('.', '\\.')}}`;

const pass = () => passOfFleet(kube);

const clusters = async () =>
  (await kube.list<EtcdCluster>(resources.clusters, {})).items.map(({ metadata }) => metadata.name).toSorted();

await untilAllowed(api.kubectl, ['--as=ada', '-n', 'etcd-ratchet'], ['update', 'etcdfleets.etcd.ratchet.dev']);
await untilAllowed(api.kubectl, ['--as=grace', '-n', 'etcd-ratchet'], ['update', 'etcdfleets.etcd.ratchet.dev']);
await untilAllowed(api.kubectl, ['--as=grace', '-n', 'payments'], ['update', 'etcdclusters.etcd.ratchet.dev']);

test('a fleet that asks for four eyes and not for signatures is refused', async () => {
  const { verify: _, ...unsigned } = git;
  const spec = { git: unsigned, approvals: { notByAuthor: { people } } };
  await assert.rejects(create(fleetWith(spec)), /approvals\.notByAuthor takes git\.verify: without a signature/);
});

test('the author confirms a deletion in vain, and is told; another person does it', async () => {
  await create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'signers', namespace: 'etcd-ratchet' },
    data: { allowed_signers: ada.line('ada@example.com') },
  });
  await create(fleetWith({ git, prune: true, approvals: { notByAuthor: { people } } }));
  const files = ['a', 'b', 'c'].map((name) => [`${name}.yaml`, clusterYaml(name)] as const);
  await repository.commit(Object.fromEntries(files));
  await signHead(repository.directory, (payload) => ada.sign(payload));
  await pass();
  assert.deepEqual(await clusters(), ['a', 'b', 'c']);
  await repository.commit({ 'a.yaml': clusterYaml('a') });
  await signHead(repository.directory, (payload) => ada.sign(payload));
  const asked = (await pass()).status?.approvals?.[0] ?? assert.fail('nothing is asked');
  const approval = `${confirm}=${asked.value}`;

  // A policy is in force a moment after it was made.
  const unnamed = await until('approvals take a name', async () => {
    const said = await annotate('ada', approval, '--dry-run=server').then(() => undefined, String);
    return said?.includes('who approves says so') ? said : undefined;
  });
  assert.match(unnamed, /confirm-prune-approved-by must be your own, as Kubernetes knows you, ada; kubectl ratchet/);
  assert.match(
    unnamed,
    /confirm-prune-approved-by="\$\(kubectl auth whoami -o jsonpath=\{\.status\.userInfo\.username\}/,
  );
  await assert.rejects(annotate('ada', approval, named(confirm, 'grace')), /who approves says so, and no other name/);

  await annotate('ada', approval, named(confirm, 'ada'));
  const refused = (await pass()).status;
  assert.deepEqual(await clusters(), ['a', 'b', 'c']);
  assert.equal(conditionOf(refused, 'Stalled')?.reason, 'PruneNeedsConfirmation');
  const said = conditionOf(refused, 'Stalled')?.message ?? '';
  assert.match(said, /the confirmation is given and does not count: ada gave it, and signed main@sha1:/);
  assert.match(said, /another person of spec\.approvals\.notByAuthor\.people .* approves it anew/);
  assert.match(refused?.approvals?.[0]?.refused ?? '', /^ada gave it/);

  // Its author can't put another name there afterwards, nor take it away.
  await assert.rejects(annotate('ada', named(confirm, 'grace')), /and no other name/);
  await assert.rejects(annotate('ada', `${approverOf(confirm)}-`), /and no other name/);
  assert.deepEqual((await pass()).status?.approvals, refused?.approvals);

  await annotate('grace', approval, named(confirm, 'grace'));
  const { status } = await pass();
  assert.deepEqual(await clusters(), ['a']);
  assert.equal(conditionOf(status, 'Stalled'), undefined);
});

test('an editor takes no cluster out of the inventory by another label, and the fleet says so', async () => {
  const inventory = async () => (await pass()).status?.inventory?.map(({ name }) => name);
  const label = (...given: readonly string[]) =>
    as('ada', 'payments', 'label', '--overwrite', 'etcdclusters.etcd.ratchet.dev/a', ...given);
  await repository.commit({ 'a.yaml': clusterYaml('a'), 'b.yaml': clusterYaml('b') });
  await signHead(repository.directory, (payload) => ada.sign(payload));
  assert.deepEqual(await inventory(), ['a', 'b']);
  const uid = await as('ada', 'payments', 'get', 'etcdclusters.etcd.ratchet.dev/a', '-o', `jsonpath=${fleetLabelPath}`);
  await label(`${labels.fleet}=${randomUUID()}`);
  await repository.commit({ 'b.yaml': clusterYaml('b') });
  await signHead(repository.directory, (payload) => ada.sign(payload));
  assert.deepEqual(await inventory(), ['a', 'b']);
  const said = conditionOf((await pass()).status, 'Unlisted')?.message ?? '';
  assert.match(said, /payments\/a: their label .* is no longer this fleet's/);
  await label(`${labels.fleet}=${uid.trim()}`);
  assert.deepEqual(await inventory(), ['b']);
  await repository.commit({ 'a.yaml': clusterYaml('a') });
  await signHead(repository.directory, (payload) => ada.sign(payload));
  assert.deepEqual(await inventory(), ['a']);
});

for (const approval of approvals)
  test(`beside ${approval} stands only the name of the user who sets it`, async () => {
    const cluster = 'etcdclusters.etcd.ratchet.dev/a';
    const set = (user: string, ...given: readonly string[]) =>
      as(user, 'payments', 'annotate', '--overwrite', cluster, ...given);
    await assert.rejects(set('ada', `${approval}=x`), /who approves says so/);
    await assert.rejects(set('ada', `${approval}=x`, named(approval, 'grace')), /and no other name/);
    // A name that waits there approves nothing later.
    await set('ada', named(approval, 'grace'));
    await assert.rejects(set('ada', `${approval}=x`), /and no other name/);
    await set('ada', `${approval}=x`, named(approval, 'ada'));
    await assert.rejects(set('ada', named(approval, 'grace')), /and no other name/);
    await assert.rejects(set('grace', `${approval}=y`), /and no other name/);
    await set('grace', named(approval, 'grace'));
    await set('ada', 'note=1');
    await set('ada', `${approval}-`, `${approverOf(approval)}-`);
  });

test('an approval from before there were names stays, and is changed only with one', async () => {
  const policy = 'validatingadmissionpolicybindings.admissionregistration.k8s.io/etcd-ratchet-approvals';
  const cluster = 'etcdclusters.etcd.ratchet.dev/a';
  const set = (...given: readonly string[]) => as('ada', 'payments', 'annotate', '--overwrite', cluster, ...given);
  await api.kubectl(['delete', policy]);
  await until('approvals are free', () =>
    set(`${annotations.adopt}=x`).then(
      () => true,
      () => undefined,
    ),
  );
  await api.kubectl(['apply', '-k', install]);
  await until('approvals take a name', async () => {
    const said = await set(`${annotations.adopt}=y`, '--dry-run=server').then(() => undefined, String);
    return said?.includes('who approves says so') ? true : undefined;
  });
  await set('note=2');
  await set(`${annotations.adopt}=x`);
  await set(named(annotations.adopt, 'ada'));
});
