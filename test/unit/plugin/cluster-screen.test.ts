import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Kubectl, type Reach, Refusal } from '../../../functions/plugin/command.ts';
import { reconcilerSecretName } from '../../../manifests/render/certificate-names.ts';
import { labels, podSelector } from '../../../manifests/render/names.ts';
import { type EndpointStatus, EtcdError } from '../../../reconcile/interfaces/etcd.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { cluster, condition, member, orders } from '../../support/page/scene.ts';
import { noKubectl, now, saidOn } from '../../support/plugin/said.ts';

const gibi = 1024 ** 3;

function pod(name: string, ordinal: number): KubeObject {
  const metadata = {
    ...{ namespace: 'payments', name: `${name}-0` },
    labels: { ...podSelector('orders'), [labels.peer]: name },
  };
  const facts = { spec: { nodeName: `node-${ordinal}` }, status: { phase: 'Running', podIP: `10.0.0.${ordinal}` } };
  return { apiVersion: 'v1', kind: 'Pod', metadata, ...facts } as KubeObject;
}

function world(options: Parameters<typeof createFakeKube>[0] = {}): FakeKube {
  const kube = createFakeKube({ clock: () => now, ...options });
  kube.seed(resources.clusters, { ...orders, status: { observedGeneration: 1, ...orders.status, refusals: [] } });
  kube.seed(resources.pods, ...[0, 1, 2, 3].map((ordinal) => pod(`orders-${ordinal}`, ordinal)));
  return kube;
}

function secret(name: string): KubeObject {
  const data = Object.fromEntries(['tls.crt', 'tls.key', 'ca.crt'].map((key) => [key, 'eA==']));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'payments', name }, data } as KubeObject;
}

/** Members at these addresses, each at an index; the others do not answer. */
function reaching(indexes: Readonly<Record<string, bigint>>, names: string[] = []): Reach {
  const status = async (endpoint: string) => {
    const index = indexes[new URL(endpoint).hostname];
    if (index === undefined) throw new EtcdError('no answer', { class: 'unavailable', reason: 'Unreachable' } as never);
    return { raftIndex: index, raftAppliedIndex: index } as EndpointStatus;
  };
  return {
    etcd: async (tls) => {
      names.push(...Object.keys(indexes).map((host) => tls?.serverName?.(`https://${host}:2379`) ?? 'plaintext'));
      return { status, close: () => undefined } as never;
    },
    wire: async () => undefined,
  };
}

test('one screen of a cluster has its certificates, nodes, quota, lag and backups', async () => {
  const kube = world();
  kube.seed(resources.secrets, secret(reconcilerSecretName('orders')));
  const taken = { takenAt: '2026-11-23T12:00:00Z', bytes: 20 * 1024 ** 2 };
  const metadata = { namespace: 'payments', name: 'orders-nightly' };
  const verified = [condition('Ready', 'True', 'Verified', 'it is good')];
  kube.seed(resources.backups, {
    metadata,
    ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdBackup', spec: { clusterName: 'orders' } },
    status: { observedGeneration: 1, ...taken, conditions: verified },
  } as KubeObject);
  kube.seed(resources.schedules, {
    ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdBackupSchedule', metadata },
    spec: { schedule: '30 2 * * *', template: { clusterName: 'orders' } },
    status: {
      ...{ observedGeneration: 1, nextAt: '2026-11-24T02:00:00Z', lastGood: { takenAt: taken.takenAt } },
      conditions: [condition('Ready', 'True', 'Scheduled', 'well')],
    },
  } as KubeObject);
  const names: string[] = [];
  const reach = reaching({ '10.0.0.0': 88_214n, '10.0.0.1': 88_214n, '10.0.0.2': 88_000n }, names);
  const { code, out, err } = await saidOn(kube, ['status', 'orders'], {}, { reach });
  assert.equal(code, 0);
  assert.match(out, /^payments\/orders: Reconciling\n {2}restarting orders-2 on etcd 3\.6\.16\n\n/);
  assert.match(out, /\nMembers +3 of 4 healthy\nVersion +3\.5\.35\.\.3\.6\.16, and 3\.6\.16 is asked for\n/);
  assert.match(out, /\nDoing now +restart-member orders-2, for /);
  assert.match(out, /\nCertificates +the first one ends in 69 days \(2027-01-31\): orders-0-server-tls\n/);
  assert.match(out, /\nQuota +\S+ GiB, and \d+ % of it is full\nVolume +8Gi\n/);
  assert.match(out, /\nLast backup +orders-nightly Verified, taken 3 h ago, 20\.0 MiB\n/);
  assert.match(out, /\nSchedule +orders-nightly \(30 2 \* \* \*\) Scheduled, next in 11 h, last good 3 h ago\n/);
  assert.match(out, /\nFleet +etcd-ratchet\/production, main@sha1:6f0f5b0e/);
  assert.match(out, /\nMEMBER +STATE +ROLE +NODE +VERSION +DB SIZE +IN USE +QUOTA +LAG\n/);
  assert.match(out, /\norders-1 +Healthy +leader +node-1 +3\.5\.35 +412 MiB +268 MiB +\d+ % +0\n/);
  assert.match(out, /\norders-2 +Not healthy for 1 day +Voter +node-2 .* 214\n/);
  assert.match(out, /\norders-3 +Healthy +Learner +node-3 .* -\n$/);
  assert.equal(err, 'LAG is not known of all members: orders-3 does not answer from here\n');
  assert.equal(names[1], 'orders-1-0.orders-peers.payments.svc');
  assert.ok(out.split('\n').every((line) => line.length <= 120));
});

test('the screen says the same to a program', async () => {
  const kube = world();
  kube.seed(resources.secrets, secret(reconcilerSecretName('orders')));
  const reach = reaching({ '10.0.0.0': 5n, '10.0.0.1': 5n, '10.0.0.2': 3n, '10.0.0.3': 5n });
  const said = await saidOn(kube, ['status', 'orders', '-o', 'json'], {}, { reach });
  const { state, members, certificates, quotaBytes, notRead } = JSON.parse(said.out);
  assert.deepEqual([state, members[2].node, members[2].lag], ['Reconciling', 'node-2', 2]);
  assert.ok(quotaBytes > gibi && certificates.notAfter.startsWith('2027-01-31'));
  assert.deepEqual(notRead, []);
});

test('where no address of a member leads anywhere, its lag is told by port-forward', async () => {
  const kube = world();
  kube.seed(resources.secrets, secret(reconcilerSecretName('orders')));
  const open = new Map<number, string>();
  const kubectl: Kubectl = {
    ...noKubectl,
    forward: async ({ pod: name }) => {
      if (name === 'orders-3-0') throw new Refusal('no way there');
      const port = 40_000 + open.size;
      open.set(port, name);
      return { port, [Symbol.dispose]: () => void open.set(port, 'given back') };
    },
  };
  const names: string[] = [];
  const status = async (endpoint: string) => {
    const { hostname, port } = new URL(endpoint);
    const index = { 'orders-0-0': 9n, 'orders-1-0': 9n, 'orders-2-0': 7n }[open.get(Number(port)) ?? ''];
    if (hostname !== '127.0.0.1' || index === undefined) throw new EtcdError('no answer', 'down');
    return { raftIndex: index, raftAppliedIndex: index } as EndpointStatus;
  };
  const etcd: Reach['etcd'] = async (tls) =>
    ({
      status: async (endpoint: string) => {
        const said = await status(endpoint);
        names.push(tls?.serverName(endpoint) ?? 'plaintext');
        return said;
      },
      close: () => undefined,
    }) as never;
  const reach = { etcd, wire: async () => undefined };
  const { code, out, err } = await saidOn(kube, ['status', 'orders'], {}, { reach, kubectl });
  assert.equal(code, 0);
  assert.match(out, /\norders-1 .* 0\n/);
  assert.match(out, /\norders-2 .* 2\n/);
  assert.equal(err, 'LAG is not known of all members: orders-3 does not answer from here\n');
  assert.deepEqual(
    names.toSorted(),
    [0, 1, 2].map((ordinal) => `orders-${ordinal}-0.orders-peers.payments.svc`),
  );
  assert.deepEqual([...new Set(open.values())], ['given back']);
});

test('a user with few rights sees what there is, and is told which are missing', async () => {
  const kube = world({ authorize: ({ resource }) => resource.plural === 'etcdclusters' });
  const { code, out, err } = await saidOn(kube, ['status', 'orders']);
  assert.equal(code, 0);
  assert.match(out, /\norders-1 +Healthy +leader +- .* -\n/);
  assert.match(err, /^you may not read pods, etcdbackups, etcdbackupschedules: what depends on them is not shown /);
  const withPods = world({ authorize: ({ resource }) => resource.plural !== 'secrets' });
  const said = await saidOn(withPods, ['status', 'orders']);
  assert.equal(
    said.err,
    'LAG is not known of all members: you may not read Secret orders-reconciler-tls, with which members are asked\n',
  );
});

test('a cluster without backups says what to do, and one that is stuck its whole problem', async () => {
  const kube = world();
  const stuck = [
    condition('Ready', 'False', 'QuorumLost', 'all is lost'),
    condition('Stalled', 'True', 'QuorumLost', 'all is lost'),
  ];
  kube.seed(resources.clusters, cluster('payments/new', { members: [], conditions: stuck }));
  const { code, out } = await saidOn(kube, ['status', 'new', '--exit-code']);
  assert.equal(code, 3);
  assert.match(out, /\nLast backup +none; take one: kubectl ratchet -n payments backup new\n/);
  assert.match(
    out,
    /\n\nit has no members yet\n\nEtcdCluster payments\/new needs you\nQuorumLost: all is lost\n {2}means: /,
  );
});

test('a quota that fills is told in its colour: at 80 % busy, at 90 % bad', async () => {
  const quotaOf = async (share: number) => {
    const kube = createFakeKube({ clock: () => now });
    const spec = { etcd: { quotaBackendBytes: '1Gi' }, tls: { mode: 'Disabled' } } as const;
    kube.seed(
      resources.clusters,
      cluster('payments/full', { members: [member('full-0', { dbBytes: gibi * share })] }, spec),
    );
    const { out } = await saidOn(kube, ['status', 'full'], { colours: true });
    return out.split('\n').find((line) => line.startsWith('Quota')) ?? '';
  };
  assert.equal(await quotaOf(0.5), 'Quota          \u001b[32m1.0 GiB, and 50 % of it is full\u001b[39m');
  assert.match(await quotaOf(0.8), /\[33m1\.0 GiB, and 80 %/);
  assert.match(await quotaOf(0.9), /\[31m1\.0 GiB, and 90 %/);
});

test('a quota that is refused, so that members run with another, is not told as theirs', async () => {
  const kube = createFakeKube({ clock: () => now });
  const refusals = [{ reason: 'QuotaRefused', message: 'no room', field: 'spec.etcd.quotaBackendBytes' }];
  const members = [member('full-0', { dbBytes: gibi / 2 })];
  const spec = { etcd: { quotaBackendBytes: '1Gi' }, tls: { mode: 'Disabled' } } as const;
  kube.seed(resources.clusters, cluster('payments/full', { members, refusals }, spec));
  const { out } = await saidOn(kube, ['status', 'full']);
  assert.match(out, /\nQuota +-\n/);
  assert.doesNotMatch(out, /50 %/);
});

test('one cluster and all namespaces is a question without an answer', async () => {
  const { code, err } = await saidOn(world(), ['status', 'orders', '-A']);
  assert.equal(code, 1);
  assert.match(err, /a cluster has one namespace: name it by -n, without -A/);
});
