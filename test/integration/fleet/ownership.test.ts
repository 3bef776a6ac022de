import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { indexFor, mostShards } from '../../../reconcile/stepping/shard.ts';
import { startGitServer } from '../../support/git/server.ts';
import { startApiServer } from './api-server.ts';
import { clusterYaml } from './scene.ts';
import { prepareFleets, ticksOn } from './ticks.ts';

/** What the fake can't show: who owns which field on a real API server, and what whole ticks cost and answer. */

const api = await startApiServer({ withCrds: false });
const git = await startGitServer();
after(async () => {
  await git.stop();
  await api[Symbol.asyncDispose]();
});
const { kube, kubectl } = api;

const tick = ticksOn(api.kubeconfigPath);

// Suspended: what the steps do is another test's matter.
const spec = (name: string, replicas: number, more = '') =>
  clusterYaml(name, { replicas, extra: `, suspend: true${more}` });

test('without our CRDs no pass can be made, and the answer says how to install them', async () => {
  const { code, lines } = await tick();
  assert.equal(code, 1);
  assert.match(String(lines.at(-1)?.fields.problem), /kubectl apply -k manifests\/install/);
  await prepareFleets(kubectl, ['etcdclusters']);
});

async function addFleet(name: string, path: string, prune = false): Promise<void> {
  const { url } = await repository;
  await kube.create<EtcdFleet>(resources.fleets, {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: { name, namespace: 'platform' },
    spec: { git: { url, ref: 'main', path }, prune },
  });
}
const repository = git.createRepository('etcd');
const fleetNamed = async (name: string) => (await kube.get<EtcdFleet>(resources.fleets, 'platform', name))?.status;
const clusterNamed = (name: string) => kube.get<EtcdCluster>(resources.clusters, 'payments', name);

test("a commit's changes, additions and removals are applied, also in our own objects", async () => {
  const { commit } = await repository;
  await commit({ 'one/orders.yaml': spec('orders', 3, ', etcd: {snapshotCount: 5000}') });
  await addFleet('first', 'one');
  assert.equal((await tick()).code, 0);
  const created = await clusterNamed('orders');
  assert.equal(created?.spec.etcd?.snapshotCount, 5000, JSON.stringify(await fleetNamed('first')));

  await commit({ 'one/orders.yaml': spec('orders', 5) });
  await tick();
  const changed = await clusterNamed('orders');
  assert.equal(changed?.metadata.uid, created?.metadata.uid);
  assert.equal(changed?.spec.replicas, 5, JSON.stringify(await fleetNamed('first')));
  assert.equal(changed?.spec.etcd?.snapshotCount, undefined);
});

test('a change by hand comes back', async () => {
  await kubectl(['patch', 'etcdcluster', '-n', 'payments', 'orders', '--type=merge', '-p', '{"spec":{"replicas":1}}']);
  await tick();
  assert.equal((await clusterNamed('orders'))?.spec.replicas, 5, JSON.stringify(await fleetNamed('first')));
});

test('a field that another tool applied is a conflict that names it, and nothing is taken over', async () => {
  const { commit } = await repository;
  await commit({ 'one/orders.yaml': spec('orders', 5), 'one/carts.yaml': spec('carts', 5) });
  await tick();
  const applied = (replicas: number) =>
    kubectl(['apply', '--server-side', '--force-conflicts', '--field-manager=argocd', '-f', '-'], {
      stdin: spec('carts', replicas),
    });
  await applied(7);
  await tick();
  assert.equal((await clusterNamed('carts'))?.spec.replicas, 7);
  const stalled = conditionOf(await fleetNamed('first'), 'Stalled');
  assert.match(stalled?.message ?? '', /^one\/carts\.yaml:1:1: .*\.spec\.replicas.*field manager argocd/);
  await applied(5);
  await tick();
  assert.equal(conditionOf(await fleetNamed('first'), 'Stalled')?.reason, undefined);
});

test('a check foresees such a conflict and hand-made changes, and writes nothing', async () => {
  const { commit, git } = await repository;
  await git('branch', '-f', 'asked', 'main');
  const files = {
    'one/carts.yaml': spec('carts', 9),
    'one/orders.yaml': spec('orders', 1),
    'one/more.yaml': spec('more', 1),
  };
  const sha = await commit(files, { branch: 'asked', keep: true });
  await kubectl(['patch', 'etcdcluster', '-n', 'payments', 'orders', '--type=merge', '-p', '{"spec":{"replicas":7}}']);
  const { code, result } = await tick({ check: sha });
  assert.equal(code, 1);
  const [report] = result.reports;
  assert.deepEqual(
    report.problems.map(({ file }: { file: string }) => file),
    ['one/carts.yaml'],
  );
  assert.match(report.problems[0].message, /\.spec\.replicas.*field manager argocd/);
  assert.deepEqual(
    Object.entries(result.requests).filter(([key]) => !/^(LIST|GET) /.test(key)),
    [
      ['PATCH etcdclusters', 3],
      ['POST statefulsets', 2],
    ],
  );
  assert.equal(await kubectl(['get', 'statefulsets', '-A', '-o', 'name']), '', 'dry runs only');
  assert.equal((await clusterNamed('orders'))?.spec.replicas, 7, 'dry runs only');
  assert.equal((await clusterNamed('carts'))?.spec.replicas, 5);
  assert.equal(await clusterNamed('more'), undefined);
  await tick();
});

test('another fleet takes a cluster over only when a person hands it over, and then wholly', async () => {
  const { commit } = await repository;
  await commit({
    'one/orders.yaml': spec('orders', 5),
    'two/orders.yaml': spec('orders', 3),
    'two/users.yaml': spec('users', 1),
  });
  await addFleet('second', 'two');
  await tick();
  assert.equal((await clusterNamed('orders'))?.spec.replicas, 5);
  assert.match(conditionOf(await fleetNamed('second'), 'Stalled')?.message ?? '', /belongs to fleet platform\/first/);
  assert.ok(await clusterNamed('users'));

  await kubectl([
    'annotate',
    'etcdcluster',
    '-n',
    'payments',
    'orders',
    'etcd.ratchet.dev/hand-over-to=platform/second',
  ]);
  await commit({ 'one/README.md': 'moved', 'two/orders.yaml': spec('orders', 3), 'two/users.yaml': spec('users', 1) });
  await tick();
  await tick();
  const orders = await clusterNamed('orders');
  assert.equal(orders?.spec.replicas, 3, JSON.stringify(await fleetNamed('second')));
  assert.equal(orders?.metadata.annotations?.['etcd.ratchet.dev/fleet-name'], 'platform/second');
  assert.equal((await fleetNamed('first'))?.inventory?.map(({ name }) => name).join(), 'carts');
});

test("when its fleet is gone, a listed cluster is taken over, without the old fleet's fields", async () => {
  const { commit } = await repository;
  await commit({
    'two/users.yaml': spec('users', 1, ', etcd: {snapshotCount: 7000}'),
    'two/orders.yaml': spec('orders', 3),
  });
  await tick();
  assert.equal((await clusterNamed('users'))?.spec.etcd?.snapshotCount, 7000);
  await kubectl(['delete', 'etcdfleet', '-n', 'platform', 'second']);
  assert.ok(await clusterNamed('users'), 'the deletion of a fleet deletes no cluster');
  await commit({ 'three/users.yaml': spec('users', 3), 'three/orders.yaml': spec('orders', 3) });
  await addFleet('third', 'three');
  await tick();
  const users = await clusterNamed('users');
  assert.equal(users?.spec.replicas, 3, JSON.stringify(await fleetNamed('third')));
  assert.equal(users?.spec.etcd?.snapshotCount, undefined);
  assert.equal(users?.metadata.annotations?.['etcd.ratchet.dev/fleet-name'], 'platform/third');
});

test('a shard takes over what another one has stepped, and leaves none of the old fields there', async () => {
  const { commit } = await repository;
  await commit({
    'three/users.yaml': spec('users', 3, ', etcd: {snapshotCount: 8000}'),
    'three/orders.yaml': spec('orders', 3),
  });
  await tick();
  assert.equal((await clusterNamed('users'))?.spec.etcd?.snapshotCount, 8000);
  await kubectl(['delete', 'etcdfleet', '-n', 'platform', 'third']);
  await commit({ 'four/users.yaml': spec('users', 5), 'four/orders.yaml': spec('orders', 3) });
  await addFleet('fourth', 'four');
  const fleet = await kube.get<EtcdFleet>(resources.fleets, 'platform', 'fourth');
  await tick({ shard: { index: indexFor(fleet?.metadata.uid ?? '', mostShards), of: mostShards } });
  const users = await clusterNamed('users');
  assert.equal(users?.spec.replicas, 5, JSON.stringify(await fleetNamed('fourth')));
  assert.equal(users?.spec.etcd?.snapshotCount, undefined);
  assert.equal(users?.metadata.annotations?.['etcd.ratchet.dev/fleet-name'], 'platform/fourth');
});

test('a namespace without the right is a problem that names account, verb and what to bind', async () => {
  const { commit } = await repository;
  await commit({
    'four/users.yaml': spec('users', 3),
    'four/orders.yaml': spec('orders', 3),
    'four/x.yaml': spec('x', 1).replace('namespace: payments', 'namespace: closed'),
    'four/z.yaml': spec('z', 1).replace('namespace: payments', 'namespace: nowhere'),
  });
  await tick();
  const { problems = [] } = (await fleetNamed('fourth')) ?? {};
  assert.match(
    problems[0]?.message ?? '',
    /service account platform\/fleet may not create etcdclusters in namespace closed\. To go on: let the fleet in: kubectl -n closed create rolebinding [^;]*; if there is no namespace closed yet, create it first/,
  );
  assert.equal(problems[0]?.file, 'four/x.yaml');
});

test('a tick over what did not change lists each kind once, and asks three things more at most', async () => {
  const { commit } = await repository;
  await commit({ 'four/users.yaml': spec('users', 3), 'four/orders.yaml': spec('orders', 3) });
  await kubectl(['delete', 'etcdfleet', '-n', 'platform', 'first']);
  await tick();
  await tick();
  const { code, result } = await tick();
  assert.equal(code, 0);
  const asked = Object.entries(result.requests as Record<string, number>);
  const lists = asked.filter(([what]) => what.startsWith('LIST '));
  const others = asked.filter((one) => !lists.includes(one));
  const told = JSON.stringify(result.requests);
  assert.ok(lists.length <= 13 && lists.every(([, count]) => count === 1), told);
  assert.ok(others.reduce((sum, [, count]) => sum + count, 0) <= 3, told);
});

test("a stranger with the fleet's label counts for nothing, is named and costs no request", async () => {
  await kubectl(['create', 'namespace', 'tenant']);
  const { metadata } = (await kube.get<EtcdFleet>(resources.fleets, 'platform', 'fourth')) ?? {};
  const before = (await tick()).result.requests;
  const mark = `metadata: {labels: {etcd.ratchet.dev/fleet: ${metadata?.uid}}, `;
  const trap = spec('trap', 3).replace('namespace: payments', 'namespace: tenant').replace('metadata: {', mark);
  await kubectl(['create', '-f', '-'], { stdin: trap });
  const { requests } = (await tick()).result;
  const status = await fleetNamed('fourth');
  assert.equal(status?.clusters?.total, 2);
  assert.match(conditionOf(status, 'ForeignLabel')?.message ?? '', /^tenant\/trap bears/);
  assert.ok(!status?.inventory?.some(({ name }) => name === 'trap'));
  const aboutFleets = (all: Record<string, number>) =>
    Object.entries(all).filter(([what]) => /fleets|reviews|secrets/.test(what));
  assert.deepEqual(aboutFleets(requests), aboutFleets(before));
  await kubectl(['delete', 'etcdcluster', '-n', 'tenant', 'trap', '--wait=false']);
  await tick();
  assert.equal(conditionOf(await fleetNamed('fourth'), 'ForeignLabel'), undefined);
});

test('a Git server that hangs costs the clusters three seconds, not their step', async () => {
  git.breakWith({ kind: 'hang' });
  const started = performance.now();
  const { code, lines, result } = await tick();
  git.breakWith(undefined);
  assert.equal(code, 0);
  assert.ok(performance.now() - started < 20_000);
  const said = lines.map(({ fields, message }) => (fields.decision ? 'step' : message));
  assert.ok(said.indexOf('step') < said.indexOf('Git could not be read'), said.join('; '));
  assert.equal(result.clusters.length, 3);
  assert.equal(conditionOf(await fleetNamed('fourth'), 'SourceReady')?.status, 'False');
});

test('with --detailed-exitcode a problem is told by the exit code, without it is not', async () => {
  const { commit } = await repository;
  await commit({
    'four/users.yaml': spec('users', 3),
    'four/orders.yaml': spec('orders', 3).replace('3.6.16', 'latest'),
  });
  assert.equal((await tick()).code, 0);
  assert.equal((await tick({ detailedExitcode: true })).code, 3);
});

test('a dry run tells what it would do, and writes nothing', async () => {
  const { commit } = await repository;
  await commit({ 'four/users.yaml': spec('users', 5), 'four/orders.yaml': spec('orders', 3) });
  const { result } = await tick({ dryRun: true });
  assert.deepEqual(result.fleets[0].planned.toSorted(), ['update payments/orders', 'update payments/users']);
  assert.equal((await clusterNamed('users'))?.spec.replicas, 3);
  assert.deepEqual(
    Object.keys(result.requests).filter((key) => !/^(LIST|GET) /.test(key)),
    [],
  );
});

test('one cluster by name is stepped without asking Git', async () => {
  const before = git.requests.length;
  const { result } = await tick({ clusters: [{ namespace: 'payments', name: 'users' }] });
  assert.deepEqual(
    result.clusters.map(({ name }: { name: string }) => name),
    ['users'],
  );
  assert.equal(git.requests.length, before);
});

test('an API server that does not answer is exit code 1', async () => {
  const { writeFile } = await import('node:fs/promises');
  const file = `${api.kubeconfigPath}.dead`;
  const { stdout } = await kubectl(['config', 'view', '--raw', '--minify', '-o', 'json']).then((text) => ({
    stdout: String(text),
  }));
  const config = JSON.parse(stdout);
  config.clusters[0].cluster = { server: 'https://127.0.0.1:1', 'insecure-skip-tls-verify': true };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const { code, lines } = await tick({ kubeconfig: file });
  assert.equal(code, 1);
  assert.equal(lines.at(-1)?.message, 'no pass could be made');
});
