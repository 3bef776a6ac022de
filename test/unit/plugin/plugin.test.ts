import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { forBackupsLabels } from '../../../manifests/render/offers.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { mentioning, withRunbook } from '../../../reconcile/reasons/runbook.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { condition, fleet } from '../../support/page/scene.ts';
import { now, type Said, saidOn } from '../../support/plugin/said.ts';

const at = '2026-11-23T12:00:00Z';

function clusterOf(name: string, more: Partial<EtcdCluster> = {}): EtcdCluster {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { namespace: 'payments', name, creationTimestamp: at, generation: 1 },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
    ...more,
  };
}

function conditions(...told: readonly (readonly [string, 'True' | 'False', string, string])[]) {
  return told.map(([type, status, reason, message]) => ({ type, status, reason, message, lastTransitionTime: at }));
}

const lost = clusterOf('orders', {
  status: {
    observedGeneration: 1,
    conditions: conditions(
      ['Ready', 'False', 'QuorumLost', 'two of three are lost; nothing more'],
      ['Stalled', 'True', 'QuorumLost', 'two of three are lost'],
    ),
    members: [
      { name: 'orders-0', id: 'a1', role: 'Voter', version: '3.6.16', healthy: true, dbBytes: 3_145_728 },
      { name: 'orders-1', id: 'b2', role: 'Voter', healthy: false, unhealthySince: at },
    ],
    leader: 'orders-0',
    readyReplicas: 1,
    history: [
      { at, action: 'be-born', reason: 'BeingBorn', message: 'it is new', outcome: 'done' },
      {
        at,
        action: 'defragment',
        target: 'orders-1',
        reason: 'Defragmenting',
        message: '\u001b[2Jx',
        outcome: 'failed',
      },
    ],
  },
});
const well = clusterOf('carts', {
  status: {
    observedGeneration: 1,
    conditions: conditions(['Ready', 'True', 'Converged', 'all is as asked']),
    readyReplicas: 3,
    version: '3.6.16',
  },
});

function said(kube: FakeKube, ...args: readonly string[]): Promise<Said> {
  return saidOn(kube, args);
}

function world(...clusters: readonly EtcdCluster[]): FakeKube {
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.namespaces, ...['payments', 'empty'].map(namespaceCalled));
  kube.seed(resources.clusters, ...clusters);
  return kube;
}

function namespaceCalled(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

const annotationsOf = (kube: FakeKube, name: string) =>
  kube.stored<KubeObject>(resources.clusters).find(({ metadata }) => metadata.name === name)?.metadata.annotations;

test('status sets clusters that need a person first, and tells of them by its exit code', async () => {
  const kube = world(well, lost);
  const { code, out } = await said(kube, 'status');
  assert.equal(code, 0);
  const lines = out.trimEnd().split('\n');
  assert.match(lines[0] ?? '', /^NAME +STATE +READY +VERSION +LEADER +AGE +MESSAGE$/);
  assert.match(lines[1] ?? '', /^orders +Stalled +1\/3 +3\.6\.16 +orders-0 +3 h +two of three are lost$/);
  assert.match(lines[2] ?? '', /^carts +Ready +3\/3 +3\.6\.16 +- +3 h$/);
  assert.equal((await said(kube, 'status', '--exit-code')).code, 3);
  assert.equal((await said(world(well), 'status', '--exit-code')).code, 0);
});

test('status says the same to a program, in JSON and YAML, and -A tells namespaces', async () => {
  const kube = world(lost);
  const json = JSON.parse((await said(kube, 'status', '-o', 'json')).out);
  assert.deepEqual(json, parse((await said(kube, 'status', '-o', 'yaml')).out));
  assert.equal(json.clusters[0].state, 'Stalled');
  assert.match((await said(kube, 'status', '-A')).out, /^NAMESPACE +NAME[^\n]*\npayments +orders/);
});

test('status tells of fleets that are not well, also where there is no cluster, and to a program', async () => {
  const kube = world();
  const lastRun = now.toISOString();
  kube.seed(
    resources.fleets,
    fleet('good', { lastRun, conditions: [condition('Ready', 'True', 'ClustersReady', 'every cluster is ready')] }),
    fleet('lost', {
      lastRun,
      conditions: [condition('Stalled', 'True', 'RefNotFound', withRunbook('no branch mian', 'EtcdFleet'))],
    }),
  );
  const { code, out, err } = await said(kube, 'status', '-A', '--exit-code');
  assert.equal(code, 3);
  assert.match(err, /no EtcdCluster/);
  assert.match(out, /^FLEET +STATE +MESSAGE\netcd-ratchet\/lost +Stalled +no branch mian\n\n/);
  assert.match(
    out,
    /\n\nEtcdFleet etcd-ratchet\/lost needs you\nRefNotFound: no branch mian\n {2}see: {3}\S+fleet\.md\n/,
  );
  const { fleets } = JSON.parse((await said(kube, 'status', '-A', '-o', 'json')).out);
  assert.deepEqual(
    fleets.map(({ name, state, reason }: Record<string, string>) => [name, state, reason]),
    [
      ['lost', 'Stalled', 'RefNotFound'],
      ['good', 'Ready', 'ClustersReady'],
    ],
  );
});

test('status of a person who may not see fleets shows the clusters', async () => {
  const kube = createFakeKube({ clock: () => now, authorize: ({ resource }) => resource.plural !== 'etcdfleets' });
  kube.seed(resources.clusters, well);
  const { code, out } = await said(kube, 'status');
  assert.equal(code, 0);
  assert.match(out, /^NAME[^\n]*\ncarts +Ready[^\n]*\n$/);
});

test('where nothing is, that is said, and where to look', async () => {
  const { code, out, err } = await said(world(), 'status', '-n', 'empty');
  assert.deepEqual([code, out], [0, '']);
  assert.match(err, /no EtcdCluster in namespace empty; look into all of them with -A/);
});

for (const command of [['status'], ['why', 'orders'], ['approve', '--fleet', 'production']]) {
  test(`${command[0]} names the namespace that does not exist, and how to find the right one`, async () => {
    const { code, out, err } = await said(world(well), ...command, '-n', 'paymnets');
    assert.deepEqual([code, out], [1, '']);
    assert.equal(err, 'error: there is no namespace paymnets; name another by -n: kubectl get namespaces\n');
  });
}

test('a user who may not read namespaces is told what is not there', async () => {
  const kube = createFakeKube({ clock: () => now, authorize: ({ resource }) => resource.plural !== 'namespaces' });
  const { code, err } = await said(kube, 'why', 'orders');
  assert.equal(code, 1);
  assert.match(err, /^error: there is no EtcdCluster payments\/orders; there is none in this namespace/);
});

test('why says what a reason means, what to do, and where to read on', async () => {
  const { code, out } = await said(world(lost), 'why', 'orders');
  assert.equal(code, 0);
  assert.match(out, /^payments\/orders: Stalled\n\nQuorumLost: two of three are lost\n {2}means: /);
  assert.match(out, /\n {2}do: {4}\S/);
  assert.match(out, /\n {2}see: {3}https:\/\/\S+\/docs\/runbooks\/lost-quorum\.md/);
  assert.doesNotMatch(out, /\[runbook\]|\]\(/);
  const told = JSON.parse((await said(world(lost), 'why', 'orders', '-o', 'json')).out);
  assert.deepEqual([told.concerns[0].reason, told.concerns[0].needsAPerson], ['QuorumLost', true]);
});

test('why says what a message says to do in place of the general cure, and its link once', async () => {
  const page = 'https://git.example.com/lost-quorum.md';
  const message = `${mentioning('two of three are lost', page)}. To go on: bring one back; or approve`;
  const told = clusterOf('orders', {
    status: { observedGeneration: 1, conditions: conditions(['Stalled', 'True', 'QuorumLost', message]) },
  });
  const { out } = await said(world(told), 'why', 'orders');
  assert.match(
    out,
    /\nQuorumLost: two of three are lost\n {2}means: [\s\S]*\n {2}do: {4}bring one back\n {2}or: {4}approve\n {2}see: /,
  );
  assert.doesNotMatch(out, /git\.example\.com/);
});

test('why says who signed the revision of a cluster, and which commit is refused', async () => {
  const uid = 'uid-orders';
  const orders = clusterOf('orders', {
    metadata: {
      ...lost.metadata,
      uid,
      annotations: { 'etcd.ratchet.dev/fleet-name': 'etcd-ratchet/production' },
    },
  });
  const verification = {
    url: 'u',
    mode: 'Head',
    revision: 'main@sha1:aa',
    signedBy: 'ada@example.com',
    key: 'SHA256:k',
  };
  const inventory = [{ namespace: 'payments', name: 'orders', uid, generation: 1, source: 'a.yaml' }];
  const refused = [condition('SourceReady', 'False', 'CommitNotSigned', 'commit bb is not signed: sign it')];
  const kube = world(orders);
  kube.seed(resources.fleets, fleet('production', { verification, inventory, conditions: refused }));
  const { out } = await said(kube, 'why', 'orders');
  assert.match(out, /fleet etcd-ratchet\/production: CommitNotSigned: commit bb is not signed: sign it\n/);
  assert.match(out, /main@sha1:aa was verified, signed by ada@example\.com \(SHA256:k\)\n/);
  const { git } = JSON.parse((await said(kube, 'why', 'orders', '-o', 'json')).out);
  assert.equal(git.verified.signedBy, 'ada@example.com');
  assert.equal(git.problem.reason, 'CommitNotSigned');

  const pretended = world(clusterOf('orders', { metadata: { ...orders.metadata, uid: 'another' } }));
  pretended.seed(resources.fleets, fleet('production', { verification, inventory, conditions: refused }));
  assert.doesNotMatch((await said(pretended, 'why', 'orders')).out, /fleet etcd-ratchet/);
});

test('why says that a cluster is paused or suspended before a pass has seen it', async () => {
  const kube = world(well);
  await said(kube, 'pause', 'carts');
  assert.match(
    (await said(kube, 'why', 'carts')).out,
    /no step is taken; go on with: kubectl ratchet -n payments resume carts/,
  );
  const suspended = clusterOf('carts', { ...well, spec: { ...well.spec, suspend: true } });
  assert.match((await said(world(suspended), 'why', 'carts')).out, /spec\.suspend is true: no step is taken/);
});

test('why of a cluster that is well says so', async () => {
  const { out } = await said(world(well), 'why', 'carts');
  assert.match(out, /^payments\/carts: Ready\n {2}all is as asked\n/);
});

test('a cluster that is not there is named with those that are', async () => {
  const { code, out, err } = await said(world(well, lost), 'why', 'order');
  assert.deepEqual([code, out], [1, '']);
  assert.equal(err, 'error: there is no EtcdCluster payments/order; there are: carts, orders\n');
});

test('members and history are tables, and text of others draws nothing on the terminal', async () => {
  const kube = world(lost);
  const members = (await said(kube, 'members', 'orders')).out;
  assert.match(members, /orders-0 +a1 +Healthy +leader +3\.6\.16 +3\.0 MiB +-\n/);
  assert.match(members, /orders-1 +b2 +Not healthy for 3 h +Voter +-/);
  const { out } = await said(kube, 'history', 'orders');
  assert.match(out, /defragment orders-1 +failed +Defragmenting +\\u001b\[2Jx\n.*be-born/);
});

test('pause and resume change one annotation, also while others change the cluster', async () => {
  let others = 2;
  const kube: FakeKube = createFakeKube({
    before: ({ key }) => {
      if (key !== 'PUT etcdclusters' || others === 0) return;
      others -= 1;
      const [now] = kube.stored<EtcdCluster>(resources.clusters);
      assert.ok(now);
      kube.seed(resources.clusters, { ...now, metadata: { ...now.metadata, labels: { changed: `${others}` } } });
    },
  });
  kube.seed(
    resources.clusters,
    clusterOf('carts', { metadata: { namespace: 'payments', name: 'carts', annotations: { own: 'kept' } } }),
  );
  assert.match((await said(kube, 'pause', 'carts')).out, /is paused: .* kubectl ratchet -n payments resume carts\n$/);
  assert.deepEqual(annotationsOf(kube, 'carts'), { own: 'kept', 'etcd.ratchet.dev/paused': 'true' });
  assert.equal((await said(kube, 'resume', 'carts')).code, 0);
  assert.deepEqual(annotationsOf(kube, 'carts'), { own: 'kept' });
  others = 100;
  const { code, err } = await said(kube, 'pause', 'carts');
  assert.equal(code, 1);
  assert.match(err, /changed by others 5 times in a row: try again/);
});

const cronJob = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { namespace: 'etcd-ratchet', name: 'etcd-ratchet', uid: 'c' },
  spec: { jobTemplate: { spec: { template: { spec: { containers: [{ name: 'tick', args: ['--timeout=50'] }] } } } } },
};

test('reconcile starts a Job that looks at this cluster, and waits for its answer', async () => {
  const kube: FakeKube = createFakeKube({
    clock: () => now,
    after: ({ key }) => {
      if (key !== 'POST jobs') return;
      const [asked] = kube.stored<EtcdCluster>(resources.clusters);
      assert.ok(asked);
      const lastDecision = { kind: 'Done', reason: 'Converged', message: 'all is as asked' } as const;
      const lastHandledReconcileAt = asked.metadata.annotations?.['etcd.ratchet.dev/reconcile'] ?? '';
      kube.seed(resources.clusters, {
        ...asked,
        status: { observedGeneration: 1, lastHandledReconcileAt, lastDecision },
      });
    },
  });
  kube.seed(resources.clusters, well);
  kube.seed(resources.cronJobs, cronJob);
  const { code, out, err } = await said(kube, 'reconcile', 'carts');
  assert.deepEqual([code, out], [0, 'payments/carts  Done  Converged: all is as asked\n']);
  assert.match(err, /^Job etcd-ratchet\/etcd-ratchet-[0-9a-f]{8} looks now\n$/);
  const [job] = kube.stored<KubeObject & { readonly spec: typeof cronJob.spec.jobTemplate.spec }>(resources.jobs);
  assert.deepEqual(job?.spec.template.spec.containers[0]?.args, [
    '--timeout=50',
    '--cluster=payments/carts',
    '--go-on',
  ]);
});

test('Ctrl-C while it waits is said, in words and with exit code 1', async () => {
  const stopping = new AbortController();
  const kube: FakeKube = createFakeKube({
    after: ({ key }) => (key === 'GET cronjobs' ? stopping.abort() : undefined),
  });
  kube.seed(resources.clusters, well);
  const { code, err } = await saidOn(kube, ['reconcile', 'carts'], { stop: stopping.signal });
  assert.equal(code, 1);
  assert.match(err, /error: stopped; the pass was asked for, and comes all the same\n$/);
});

test('without the right to start Jobs, or a CronJob, reconcile says that the next pass answers', async () => {
  const none = await said(world(well), 'reconcile', 'carts', '--wait=0');
  assert.match(none.err, /there is no CronJob etcd-ratchet\/etcd-ratchet: the next pass answers/);
  const kube = createFakeKube({ authorize: ({ key }) => !key.endsWith('cronjobs') });
  kube.seed(resources.clusters, well);
  const { code, err } = await said(kube, 'reconcile', 'carts', '--wait=0');
  assert.equal(code, 0);
  assert.match(err, /you may not start Jobs .*its next pass answers/);
  kube.seed(resources.cronJobs, cronJob);
  assert.equal(annotationsOf(kube, 'carts')?.['etcd.ratchet.dev/reconcile'] !== undefined, true);
});

const scheduleOf = (name: string, clusterName: string) => ({
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdBackupSchedule',
  metadata: { namespace: 'payments', name },
  spec: { schedule: '0 * * * *', template: { clusterName, to: { object: 's3://b/{{timestamp}}.db' } } },
});

test('backup takes one as the only schedule of the cluster does, or as the one that is named', async () => {
  const kube = world(well);
  const none = await said(kube, 'backup', 'carts');
  assert.equal(none.code, 1);
  assert.match(none.err, /payments\/carts has no EtcdBackupSchedule .*docs\/how-to\/backups\.md/);
  kube.seed(resources.schedules, scheduleOf('hourly', 'carts'), scheduleOf('other', 'orders'));
  assert.equal((await said(kube, 'backup', 'carts')).code, 0);
  const [made] = kube.stored<EtcdBackup>(resources.backups);
  assert.equal(made?.metadata.name, 'carts-20261123150000');
  assert.deepEqual(made?.spec, scheduleOf('hourly', 'carts').spec.template);
  kube.seed(resources.schedules, scheduleOf('daily', 'carts'));
  assert.match((await said(kube, 'backup', 'carts')).err, /several schedules: name one of daily, hourly by --schedule/);
  assert.match((await said(kube, 'backup', 'carts', '--schedule=other')).err, /has no EtcdBackupSchedule other/);
  const again = await said(kube, 'backup', 'carts', '--schedule=daily');
  assert.equal(again.code, 1, 'two within a second are one');
  assert.match(again.err, /already exists/i);
  assert.match((await said(kube, 'backups', 'carts')).out, /^NAME +STATE[^\n]*\ncarts-20261123150000 +Reconciling/);
});

test('offers prints the command for each name that is not offered, once, and none for what is', async () => {
  const kube = world(well);
  const { spec, ...schedule } = scheduleOf('hourly', 'carts');
  const to = { object: 's3://b/{{timestamp}}.db', serviceAccountName: 'backups', s3: { credentialsSecretName: 'key' } };
  const template = { ...spec.template, to };
  kube.seed(resources.schedules, { ...schedule, spec: { ...spec, template } });
  const from = { object: 'pvc://files/a.db', encryption: { identitySecretName: 'age' } };
  const snapshot = { ...(well.spec as object), bootstrap: { snapshot: from } };
  kube.seed(resources.clusters, { ...well, metadata: { ...well.metadata, name: 'again' }, spec: snapshot });
  kube.seed(resources.secrets, { metadata: { namespace: 'payments', name: 'age', labels: forBackupsLabels } });
  const label = 'etcd.ratchet.dev/for-backups=true';
  const asked = ['persistentvolumeclaim files', 'secret key', 'serviceaccount backups'];
  assert.equal(
    (await said(kube, 'offers')).out,
    asked.map((one) => `kubectl -n payments label --overwrite ${one} ${label}\n`).join(''),
  );
  for (const [resource, name] of [
    [resources.volumeClaims, 'files'],
    [resources.secrets, 'key'],
    [resources.serviceAccounts, 'backups'],
  ] as const)
    kube.seed(resource, { metadata: { namespace: 'payments', name, labels: forBackupsLabels } });
  const { out, err, code } = await said(kube, 'offers', '-A');
  assert.deepEqual([out, code], ['', 0]);
  assert.match(err, /all that backups and restores name is offered/);
});

test('what is not understood is told with exit code 2, and nothing is asked of the API server', async () => {
  for (const args of [
    ['stattus'],
    ['why'],
    ['why', 'a', 'b'],
    ['status', '-o', 'xml'],
    ['reconcile', 'a', '--wait=x'],
  ]) {
    const kube = world(well);
    const { code, err } = await said(kube, ...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(err, /^error: .*\n(.*\n)?--help shows how it is used\.\n$/);
    assert.equal(kube.journal().length, 0);
  }
});

test('what the API server forbids is said with the roles that help, and nothing of a stack', async () => {
  const kube = createFakeKube({ authorize: () => false });
  const { code, err } = await said(kube, 'status');
  assert.equal(code, 1);
  assert.match(err, /^error: [^\n]*403 Forbidden[^\n]*\nRoles of a namespace: [^\n]*\n[^\n]*install\.md[^\n]*\n$/);
});
