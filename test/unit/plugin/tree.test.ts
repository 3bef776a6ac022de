import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FleetInventoryEntry } from '../../../manifests/api/etcd-fleet-status.ts';
import { labels } from '../../../manifests/render/names.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { cluster, condition, fleet, member } from '../../support/page/scene.ts';
import { now, saidOn } from '../../support/plugin/said.ts';

const orders = cluster('payments/orders', { owner: 'production', members: [member('orders-0'), member('orders-1')] });
const stray = cluster('etcd-ratchet/stray', { members: [] });

function entry(namespace: string, name: string, more: Partial<FleetInventoryEntry> = {}): FleetInventoryEntry {
  return { namespace, name, uid: `uid-${namespace}-${name}`, generation: 1, source: `${name}.yaml`, ...more };
}

function pod(name: string, peer: string, isReady: boolean): KubeObject {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', spec: { nodeName: 'node-a' } },
    metadata: { namespace: 'payments', name, labels: { [labels.cluster]: 'orders', [labels.peer]: peer } },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  } as KubeObject;
}

function world(options: Parameters<typeof createFakeKube>[0] = {}): FakeKube {
  const kube = createFakeKube({ clock: () => now, ...options });
  kube.seed(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'empty' } });
  const inventory = [
    entry('payments', 'orders'),
    entry('shop', 'gone'),
    entry('payments', 'nightly', { kind: 'EtcdBackupSchedule' }),
    entry('', 'workers', { kind: 'EtcdNodePolicy' }),
  ];
  kube.seed(resources.fleets, fleet('production', { inventory }));
  kube.seed(resources.clusters, orders, stray);
  kube.seed(resources.pods, pod('orders-0-0', 'orders-0', true), pod('orders-9-0', 'orders-9', false));
  const metadata = { namespace: 'payments', name: 'nightly', uid: 'uid-payments-nightly' };
  const status = { observedGeneration: 1, conditions: [condition('Ready', 'True', 'Scheduled', 'well')] };
  kube.seed(resources.schedules, { ...{ apiVersion: 'x', kind: 'y', metadata, spec: {} }, status } as KubeObject);
  kube.seed(resources.nodePolicies, {
    ...{ apiVersion: 'x', kind: 'y', metadata: { name: 'workers', uid: 'uid--workers' } },
    spec: {},
  } as KubeObject);
  return kube;
}

const whole = `OBJECT STATE DETAIL
EtcdFleet etcd-ratchet/production Ready main@sha1:6f0f5b0e2c9a4d7713be08a5f64c1d92e7b3a860
├─ EtcdCluster payments/orders Ready 2/3 healthy, etcd 3.6.16
│ ├─ member orders-0 Healthy Voter
│ │ └─ Pod orders-0-0 Running on node-a
│ ├─ member orders-1 Healthy leader
│ └─ Pod orders-9-0 Running, not Ready on node-a
├─ EtcdCluster shop/gone Gone its fleet applied it, from gone.yaml
├─ EtcdBackupSchedule payments/nightly Scheduled
└─ EtcdNodePolicy workers Reconciling no pass has looked at it yet
`;

const plain = (text: string) => text.replaceAll(/ {2,}/g, ' ');

test('tree goes from a fleet by its clusters and members to pods, and to what else it applied', async () => {
  const { code, out, err } = await saidOn(world(), ['tree', 'production', '-n', 'etcd-ratchet']);
  assert.deepEqual([code, plain(out), err], [0, whole, '']);
  const json = JSON.parse((await saidOn(world(), ['tree', 'production', '-n', 'etcd-ratchet', '-o', 'json'])).out);
  assert.equal(json.tree[0].parts[0].parts[0].parts[0].object, 'Pod orders-0-0');
});

test('clusters of no fleet stand beside the fleets, and -A lists each kind once', async () => {
  const kube = world();
  const { out } = await saidOn(kube, ['tree', '-A']);
  assert.equal(plain(out), `${whole}EtcdCluster etcd-ratchet/stray Ready 0/3 healthy, etcd 3.6.16\n`);
  assert.ok(kube.journal().every(({ key }) => key.startsWith('LIST')));
  assert.ok(kube.journal().length <= 6);
  assert.match((await saidOn(world(), ['tree'])).out, /^OBJECT .*\nEtcdCluster payments\/orders +Ready/);
});

test('what may not be read is Unknown, and the right that is missing is told', async () => {
  const kube = world({ authorize: ({ resource }) => !['pods', 'etcdbackupschedules'].includes(resource.plural) });
  const { code, out, err } = await saidOn(kube, ['tree', 'production', '-n', 'etcd-ratchet']);
  assert.equal(code, 0);
  assert.doesNotMatch(out, /Pod/);
  assert.match(out, /EtcdBackupSchedule payments\/nightly +Unknown +you may not read it\n/);
  assert.match(err, /^you may not read pods, etcdbackupschedules: /);
});

test('an empty namespace, a fleet that is not there, and one with too many say what to do', async () => {
  assert.match(
    (await saidOn(world(), ['tree', '-n', 'empty'])).err,
    /no EtcdFleet and no EtcdCluster in namespace empty; look into all/,
  );
  assert.match((await saidOn(world(), ['tree', '-n', 'emtpy'])).err, /there is no namespace emtpy; name another by -n/);
  assert.match((await saidOn(world(), ['tree', 'x', '-n', 'empty'])).err, /there is no EtcdFleet empty\/x/);
  assert.match((await saidOn(world(), ['tree', 'production', '-A'])).err, /a fleet has one namespace/);
  const kube = world();
  const inventory = Array.from({ length: 60 }, (_, at) => entry(`team-${at}`, 'orders'));
  kube.seed(resources.fleets, fleet('wide', { inventory }));
  assert.match(
    (await saidOn(kube, ['tree', 'wide', '-n', 'etcd-ratchet'])).err,
    /in 60 namespaces, too many .*look with -A/,
  );
});
