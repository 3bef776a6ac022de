import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CheckReport, checkName } from '../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdPeer } from '../../manifests/api/etcd-peer.ts';
import type { StatefulSet } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isReady } from './support/conditions.ts';
import { assertForetold, type Foretold } from './support/foretold.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const stage = scene();
const context = 'etcd-ratchet/fleet/plan';

interface KeptReport {
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** A branch that parts from main here, and a request to merge it. */
async function openRequest(number: number, files: Readonly<Record<string, string | undefined>>): Promise<string> {
  const { repository, forge } = stage();
  const branch = `request-${number}`;
  await repository.git('branch', branch, 'main');
  const headSha = await repository.commit(files, { branch, keep: true, message: `Request ${number}` });
  forge.pulls.unshift({ number, title: `Request ${number}`, headSha });
  return headSha;
}

function closeRequest(number: number): void {
  const { pulls } = stage().forge;
  pulls.splice(
    pulls.findIndex((pull) => pull.number === number),
    1,
  );
}

/** A pass that runs out of time leaves some for the next. */
async function checked(...heads: readonly string[]): Promise<void> {
  const { forge, ticksUntil } = stage();
  const states = () => heads.map((head) => forge.statusesOf(head).get(context)?.state ?? 'pending');
  await ticksUntil('all are checked', () => !states().includes('pending'), { last: () => states().join() });
}

async function reportOf(head: string): Promise<CheckReport> {
  const kept = await stage().get<KeptReport>(resources.configMaps, checkName('fleet', head));
  return JSON.parse(kept?.data?.['report.json'] ?? assert.fail('there is no report')) as CheckReport;
}

function runs(version: string): (cluster: EtcdCluster) => boolean {
  return (cluster) => isReady(cluster) && (cluster.status?.members ?? []).every((member) => member.version === version);
}

test('a request that upgrades a cluster shows its plan; merged, the plan is what happens', async (t) => {
  const { push, tick, tickUntil, ticksUntil, namespace, forge, repository, get, fleet } = stage();
  const yaml = (fields: object) => clusterYaml('orders', namespace, { replicas: 1, ...fields });
  await push({ 'clusters/orders.yaml': yaml({ version: '3.5.35' }) });
  await tickUntil('orders', runs('3.5.35'));

  const head = await openRequest(1, { 'clusters/orders.yaml': yaml({ version: '3.6.16' }) });
  const other = { 'clusters/rest.yaml': clusterYaml('rest', namespace, { suspend: true }) };
  await repository.commit(other, { keep: true, message: 'Meanwhile on main' });
  await checked(head);
  const states = forge.statuses.filter(({ sha }) => sha === head).map(({ state }) => state);
  assert.deepEqual(states, ['pending', 'success']);
  const description = forge.statusesOf(head).get(context)?.description ?? '';
  assert.match(description, /^orders: 3\.5\.35→3\.6\.16, 1 restart, \d+ steps$/);
  assert.equal(condition(await fleet(), 'RequestsChecked')?.status, 'True');

  const report = await reportOf(head);
  assert.deepEqual([report.problems, report.deletions, report.clusters.length], [[], [], 1]);
  const printed = await tick('--check', '1');
  assert.equal(printed.code, 0, printed.stderr);
  assert.ok(printed.stdout.includes(`**${description.replaceAll('_', '\\_')}**`), printed.stdout);
  const asData = await tick('--check', head, '--output', 'json');
  assert.deepEqual((JSON.parse(asData.stdout) as { reports: CheckReport[] }).reports[0]?.clusters, report.clusters);
  assert.equal((await stage().cluster('orders')).spec.version, '3.5.35', 'nothing was applied');

  const told = forge.statuses.length;
  await tick();
  await tick();
  assert.deepEqual(
    forge.statuses.slice(told).filter((status) => status.context === context),
    [],
    'told once',
  );

  await repository.git('update-ref', 'refs/heads/main', await mergeOf(head));
  closeRequest(1);
  const after = await tickUntil('orders', runs('3.6.16'), 120);
  const [planned] = report.clusters;
  t.diagnostic(assertForetold((planned?.planned ?? assert.fail()) as Foretold, after));
  const gone = await ticksUntil('the report is gone', async () => {
    return (await get(resources.configMaps, checkName('fleet', head))) === undefined;
  });
  assert.ok(gone);
});

/** As a forge merges: a commit with two parents, made by system git. */
async function mergeOf(head: string): Promise<string> {
  const { repository } = stage();
  const [tree = ''] = (await repository.git('merge-tree', '--write-tree', 'main', head)).split('\n');
  return repository.git('commit-tree', tree, '-p', 'main', '-p', head, '-m', 'Merge');
}

test('what cannot be done fails at its place: by rules, API server, or the fleet’s rights', async () => {
  const { push, tick, tickUntil, namespace, forge } = stage();
  const yaml = (fields: object) => clusterYaml('stock', namespace, { replicas: 1, ...fields });
  await push({ 'clusters/stock.yaml': yaml({ version: '3.6.16' }) });
  await tickUntil('stock', runs('3.6.16'));

  const downgrade = await openRequest(2, { 'clusters/stock.yaml': yaml({ version: '3.5.35' }) });
  const mode = await openRequest(3, { 'clusters/stock.yaml': yaml({ tls: { mode: 'Disabled' } }) });
  const foreign = await openRequest(4, { 'clusters/foreign.yaml': clusterYaml('foreign', 'default') });
  const nowhere = await openRequest(5, { 'clusters/lost.yaml': clusterYaml('lost', 'no-such-namespace') });
  await checked(downgrade, mode, foreign, nowhere);
  const said = (sha: string) => {
    const { state, description } = forge.statusesOf(sha).get(context) ?? assert.fail('no status');
    return `${state}: ${description}`;
  };
  assert.match(said(downgrade), /^failure: clusters\/stock\.yaml:4:\d\d: .*3\.5/);
  assert.match(said(mode), /^failure: clusters\/stock\.yaml:4:\d+: .*tls/i);
  assert.match(
    said(foreign),
    /^failure: clusters\/foreign\.yaml:1:1: do: see the report; why: service account .*fleet/,
  );
  assert.match(said(nowhere), /^failure: clusters\/lost\.yaml:1:1: /);
  const { code, stdout } = await tick('--check', '2');
  assert.equal(code, 1);
  assert.match(stdout, /#### To mend\n\n- clusters\/stock\.yaml:4:/);
  for (const number of [2, 3, 4, 5]) closeRequest(number);
});

test('a pod template is checked to its last field, and one that is refused touches no member', async () => {
  const { push, tickUntil, namespace, forge, cluster, get } = stage();
  const yaml = (spec?: object) =>
    clusterYaml('pods', namespace, { replicas: 1, ...(spec && { podTemplate: { spec } }) });
  const refused = { nodeSelector: { 'not a label': 'x' } };
  await push({ 'clusters/pods.yaml': yaml() });
  await tickUntil('pods', runs('3.6.16'));

  const slip = await openRequest(6, { 'clusters/pods.yaml': yaml({ tolerationz: [] }) });
  const name = await openRequest(7, { 'clusters/pods.yaml': yaml({ containers: [{ name: 'etcdd' }] }) });
  const label = await openRequest(8, { 'clusters/pods.yaml': yaml(refused) });
  const born = await openRequest(9, {
    'clusters/new.yaml': clusterYaml('new', namespace, { podTemplate: { spec: refused } }),
  });
  const fine = await openRequest(10, { 'clusters/pods.yaml': yaml({ terminationGracePeriodSeconds: 40 }) });
  await checked(slip, name, label, born, fine);
  const said = (sha: string) => {
    const { state, description } = forge.statusesOf(sha).get(context) ?? assert.fail('no status');
    return `${state}: ${description}`;
  };
  assert.match(said(slip), /^failure: clusters\/pods\.yaml:4:\d+: .*did you mean tolerations/);
  assert.match(said(name), /^failure: clusters\/pods\.yaml:4:\d+: .*did you mean etcd\?/);
  assert.match(said(label), /^failure: clusters\/pods\.yaml:4:\d+: its pods are refused: /);
  assert.match(said(born), /^failure: clusters\/new\.yaml:4:\d+: its pods are refused: /);
  assert.match(said(fine), /^success: pods: .*1 restart/);
  for (const number of [6, 7, 8, 9, 10]) closeRequest(number);

  const before = await get<StatefulSet>(resources.statefulSets, 'pods-0');
  const peer = await get<EtcdPeer>(resources.peers, 'pods-0');
  await push({ 'clusters/pods.yaml': yaml(refused) });
  await tickUntil('pods', (live) => JSON.stringify(live.status?.conditions).includes('nodeSelector'));
  assert.deepEqual((await get<EtcdPeer>(resources.peers, 'pods-0'))?.spec, peer?.spec, 'no peer was told');
  assert.equal(
    (await get<StatefulSet>(resources.statefulSets, 'pods-0'))?.metadata.generation,
    before?.metadata.generation,
  );
  await push({ 'clusters/pods.yaml': yaml() });
  await tickUntil('pods', runs('3.6.16'));
  assert.equal((await cluster('pods')).status?.readyReplicas, 1);
});
