import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { withDefaults } from '../../../manifests/api/defaults.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { dryRun } from '../../../reconcile/fleet/check/dry-run.ts';
import { foreseenSpec } from '../../../reconcile/fleet/foreseen.ts';
import { withKind } from '../../../reconcile/fleet/objects.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { startGitServer } from '../../support/git/server.ts';
import { startApiServer } from './api-server.ts';
import { clusterYaml } from './scene.ts';
import { prepareFleets, ticksOn } from './ticks.ts';

/** Fields that Git does not list: before a fleet gets an object, and afterwards. */

const api = await startApiServer({ withCrds: false });
const git = await startGitServer();
after(async () => {
  await git.stop();
  await api[Symbol.asyncDispose]();
});
const { kube, kubectl } = api;
const tick = ticksOn(api.kubeconfigPath);
await prepareFleets(kubectl, ['etcdclusters', 'etcdbackupschedules']);
const { commit, url } = await git.createRepository('etcd');
await kube.create<EtcdFleet>(resources.fleets, {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdFleet',
  metadata: { name: 'f', namespace: 'platform' },
  spec: { git: { url, ref: 'main', path: '.' }, prune: false },
});

// Suspended: what the steps do is another test's matter.
const spec = (name: string, etcd = '', replicas = 3) =>
  clusterYaml(name, { replicas, extra: `, suspend: true${etcd && `, etcd: {${etcd}}`}` });
const scheduleYaml = `apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdBackupSchedule
metadata: {name: nightly, namespace: payments}
spec: {schedule: "30 2 * * *", template: {clusterName: users, to: {object: "gs://bucket/{{timestamp}}.db"}}}
`;

const fleet = async () => (await kube.get<EtcdFleet>(resources.fleets, 'platform', 'f')) ?? assert.fail('no fleet');
const cluster = async (name: string) =>
  (await kube.get<EtcdCluster>(resources.clusters, 'payments', name)) ?? assert.fail(`no ${name}`);
const drifted = async (name: string) => conditionOf((await cluster(name)).status, 'Drifted')?.message;
const changed = (name: string, patch: object, more: readonly string[] = []) =>
  kubectl(['patch', 'etcdcluster', '-n', 'payments', name, '--type=merge', '-p', JSON.stringify(patch), ...more]);

/** What the check of a request would say is live. */
async function foretold(name: string, text: string, kind: 'adopt' | 'update') {
  const object = parse(text);
  const place = { file: `${name}.yaml`, line: 1, column: 1 };
  const asked = {
    kind,
    spec: { object, kind: 'EtcdCluster', namespace: 'payments', name, ...place },
    live: withKind('EtcdCluster', await cluster(name)),
  };
  const said = await dryRun(asked, { fleet: await fleet(), kube, signal: AbortSignal.timeout(20_000) });
  assert.equal(said.kind, 'accepted', JSON.stringify(said));
  const spec = foreseenSpec(asked, 'etcd-ratchet-fleet-platform-f') as EtcdCluster['spec'];
  const [answered, computed] = [said.kind === 'accepted' ? said.object : undefined, { spec }].map(
    (one) => withDefaults(one as EtcdCluster).spec,
  );
  assert.deepEqual(computed, answered, 'without a request as with one');
  return answered;
}

test('what kubectl wrote goes where Git does not list it, by whichever command it was written', async () => {
  const ways: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
    applied: (name) => kubectl(['apply', '-f', '-'], { stdin: spec(name, 'snapshotCount: 9000') }),
    'applied-by-server': (name) =>
      kubectl(['apply', '--server-side', '-f', '-'], { stdin: spec(name, 'snapshotCount: 9000') }),
    created: (name) => kubectl(['create', '-f', '-'], { stdin: spec(name, 'snapshotCount: 9000') }),
    patched: async (name) => {
      await kubectl(['create', '-f', '-'], { stdin: spec(name) });
      await changed(name, { spec: { etcd: { snapshotCount: 9000 } } });
    },
    replaced: async (name) => {
      await kubectl(['create', '-f', '-'], { stdin: spec(name) });
      await kubectl(['replace', '-f', '-'], { stdin: spec(name, 'snapshotCount: 9000') });
    },
    'with-another-value': (name) => kubectl(['apply', '-f', '-'], { stdin: spec(name, 'snapshotCount: 9000', 1) }),
  };
  const names = Object.keys(ways);
  for (const [name, write] of Object.entries(ways)) await write(name);
  await kubectl(['annotate', 'etcdcluster', '-n', 'payments', 'applied', 'etcd.ratchet.dev/paused=looking']);
  const foreseen = new Map<string, unknown>();
  for (const name of names) foreseen.set(name, await foretold(name, spec(name), 'adopt'));
  await commit(Object.fromEntries(names.map((name) => [`${name}.yaml`, spec(name)])));
  await tick();
  for (const name of names) {
    const { spec: live, metadata } = await cluster(name);
    assert.equal(live.replicas, 3, name);
    assert.equal(live.etcd?.snapshotCount, undefined, name);
    assert.deepEqual(foreseen.get(name), live, `a dry run foretells ${name}`);
    assert.ok(metadata.labels?.['etcd.ratchet.dev/fleet'], name);
  }
  const { annotations = {} } = (await cluster('applied')).metadata;
  assert.equal(annotations['etcd.ratchet.dev/paused'], 'looking', 'a mark of a person stays');
  assert.equal(annotations['kubectl.kubernetes.io/last-applied-configuration'], undefined);
  const told = await kubectl(['get', 'events', '-n', 'payments', '-o', 'jsonpath={.items[*].message}']);
  for (const way of ['client-side-apply', 'create', 'patch', 'replace'])
    assert.match(
      told,
      new RegExp(`what kubectl-[a-z, -]*${way}.* wrote of it belongs to fleet platform/f from now on`),
    );
  assert.match(told, /what patched\.yaml does not list is removed: spec\.etcd\.snapshotCount(?!,)/);
  await tick();
  for (const name of names) assert.equal(await drifted(name), undefined, name);
});

test('what another manager owns stays its own, and is told as drift or as a conflict', async () => {
  const apply = (name: string, etcd: string) =>
    kubectl(['apply', '--server-side', '--field-manager=tuner', '-f', '-'], { stdin: spec(name, etcd) });
  await kubectl(['create', '-f', '-'], { stdin: spec('tuned', 'snapshotCount: 9000') });
  await apply('tuned', 'snapshotCount: 9000, heartbeatInterval: 200ms');
  await apply('contested', 'heartbeatInterval: 200ms');
  const foreseen = await foretold('tuned', spec('tuned'), 'adopt');
  await commit({ 'tuned.yaml': spec('tuned'), 'contested.yaml': spec('contested', 'heartbeatInterval: 150ms') });
  await tick();
  const { spec: live } = await cluster('tuned');
  assert.deepEqual(live.etcd, { snapshotCount: 9000, heartbeatInterval: '200ms' });
  assert.deepEqual(foreseen, live, 'a dry run foretells what others keep');
  await tick();
  assert.match(
    (await drifted('tuned')) ?? '',
    /^live, and not set by Git: spec\.etcd\.heartbeatInterval \(tuner\), spec\.etcd\.snapshotCount \(tuner\)\. To go on: list them in tuned\.yaml, or remove them: kubectl/,
  );
  assert.equal((await cluster('contested')).spec.etcd?.heartbeatInterval, '200ms');
  const { status } = await fleet();
  assert.match(
    conditionOf(status, 'Stalled')?.message ?? '',
    /^contested\.yaml:1:1: .*spec\.etcd\.heartbeatInterval.*field manager tuner/,
  );
  await kubectl(['delete', 'etcdcluster', '-n', 'payments', 'tuned', 'contested', '--wait=false']);
});

test('a field added by hand is told until it is in Git, or the command that is told removes it', async () => {
  await commit({ 'users.yaml': spec('users'), 'nightly.yaml': scheduleYaml });
  await tick();
  await tick();
  const { result: calm } = await tick();
  assert.equal(await drifted('users'), undefined);
  const patched = { spec: { etcd: { snapshotCount: 9999 }, replicas: 5 } };
  const foreseen = () => foretold('users', spec('users'), 'update');
  await changed('users', patched);
  await kubectl([
    'patch',
    'etcdbackupschedule',
    '-n',
    'payments',
    'nightly',
    '--type=merge',
    '-p',
    '{"spec":{"timeZone":"Europe/Berlin"}}',
  ]);
  assert.equal((await foreseen())?.etcd?.snapshotCount, 9999, 'a plan starts from what would be live');
  await tick();
  await tick();
  const message = (await drifted('users')) ?? '';
  assert.match(
    message,
    /^live, and not set by Git: spec\.etcd\.snapshotCount \(kubectl-patch\)\. To go on: list them in users\.yaml/,
  );
  assert.equal((await cluster('users')).spec.replicas, 3, 'what is listed comes back');
  const { status } = await fleet();
  const ofFleet = conditionOf(status, 'Drifted');
  assert.equal(ofFleet?.reason, 'FieldsNotInGit');
  assert.match(ofFleet?.message ?? '', /payments\/users: spec\.etcd\.snapshotCount \(kubectl-patch\)/);
  assert.match(ofFleet?.message ?? '', /payments\/EtcdBackupSchedule\/nightly: spec\.timeZone \(kubectl-patch\)/);
  assert.equal(conditionOf(status, 'Stalled'), undefined);
  const { result } = await tick();
  assert.deepEqual(result.requests, calm.requests, 'to see it costs no request');

  const [, command = assert.fail(message)] = /remove them: kubectl (.*)$/.exec(message) ?? [];
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word);
  await kubectl(words);
  await commit({
    'users.yaml': spec('users'),
    'nightly.yaml': scheduleYaml.replace('template', 'timeZone: Europe/Berlin, template'),
  });
  await tick();
  await tick();
  assert.equal((await cluster('users')).spec.etcd?.snapshotCount, undefined);
  assert.equal(await drifted('users'), undefined);
  assert.equal(conditionOf((await fleet()).status, 'Drifted'), undefined);
});
