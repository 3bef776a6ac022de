import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { annotations } from '../../manifests/build/names.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/kube.ts';
import { connectTo } from './support/client.ts';
import { isReady } from './support/conditions.ts';
import { type Dying, dyingUntil } from './support/deaths.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter, type Writer } from './support/writer.ts';

const stage = scene({ fleet: false });

// A learner has as long to come: long enough for all who die while it does.
const healing = { podGracePeriod: '10s', memberGracePeriod: '25s' };

/** A change of a cluster that is whole, to one that is whole again. */
interface Change extends Pick<Dying, 'until' | 'names'> {
  readonly what: string;
  /** Voters that there are afterwards. */
  readonly size: number;
  /** What it asks of etcd, among others. */
  readonly calls: readonly string[];
}

async function apply(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { kubectl, namespace } = stage();
  const stdin = clusterYaml(name, namespace, { healing, ...fields });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
}

function isWhole(size: number, also: (cluster: EtcdCluster) => boolean = () => true) {
  return (cluster: EtcdCluster) =>
    isReady(cluster) &&
    cluster.status?.lastDecision?.reason === 'Converged' &&
    cluster.status.readyReplicas === size &&
    cluster.status.members?.length === size &&
    also(cluster);
}

async function born(name: string, fields: { readonly replicas: number; readonly version?: string }): Promise<Writer> {
  await apply(name, fields);
  await stage().tickUntil(name, isWhole(fields.replicas), 120);
  const writer = startWriter(await stage().access(name), 'deaths');
  await until('fifty writes', async () => writer.acknowledged >= 50);
  return writer;
}

async function volumesOf(name: string): Promise<readonly PersistentVolumeClaim[]> {
  const volumes = await stage().list<PersistentVolumeClaim>(resources.volumeClaims);
  return volumes.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

/** As Kubernetes, the volumes and etcd itself have it, each for itself. */
async function assertWhole(name: string, size: number): Promise<void> {
  const { cluster, access } = stage();
  const { status } = await cluster(name);
  const members = (status?.members ?? []).map((member) => member.name).toSorted();
  assert.ok(status?.members?.every(({ role, healthy }) => role === 'voter' && healthy));
  await until('the volumes of those who left are gone', async () => (await volumesOf(name)).length === size);
  const volumes = await volumesOf(name);
  assert.deepEqual(volumes.map(({ metadata }) => metadata.name).toSorted(), members);
  for (const { metadata } of volumes) {
    assert.equal(metadata.annotations?.[annotations.volumeState], 'sealed', metadata.name);
    assert.equal(metadata.annotations?.[annotations.clusterId], status?.clusterID, metadata.name);
  }
  const client = connectTo(await access(name), 5_000);
  try {
    const list = await client.cluster.memberList({ linearizable: true });
    assert.deepEqual(list.members.map((member) => member.name).toSorted(), members);
    assert.deepEqual((await client.maintenance.alarm({ action: 'Get' })).alarms, []);
  } finally {
    client.close();
  }
}

async function nothingLost(writer: Writer): Promise<string> {
  const before = writer.acknowledged;
  await until('writes go on', async () => writer.acknowledged > before + 20);
  const { acknowledged, lost, longestGap } = await writer.finish();
  assert.deepEqual(lost, [], `of ${acknowledged} acknowledged writes`);
  return `${acknowledged} writes, none lost; longest gap ${longestGap.toFixed(0)} ms`;
}

async function lives(name: string, change: Change): Promise<string> {
  const places = await dyingUntil(stage(), name, { ...change, within: 300 });
  await assertWhole(name, change.size);
  const deaths = (when: string) => places.filter((place) => place.startsWith(`${when} `));
  const [before, after] = [deaths('before'), deaths('after')];
  for (const call of change.calls) {
    assert.ok(before.some((place) => place.endsWith(call)) && after.some((place) => place.endsWith(call)), call);
  }
  assert.ok(before.length >= 20 && after.length >= 15, places.join('\n'));
  return `${change.what}: ${before.length} deaths before a write, ${after.length} after one`;
}

async function resized(name: string, size: number): Promise<Change> {
  await apply(name, { replicas: size });
  const calls = size > 1 ? ['MemberAdd', 'MemberPromote'] : ['MemberRemove'];
  return { what: `to ${size}`, size, calls, until: isWhole(size) };
}

/** A follower of three, whose volume is gone for good. */
async function bereft(name: string): Promise<Change> {
  const { kubectl, namespace, cluster } = stage();
  const { members = [], leader } = (await cluster(name)).status ?? {};
  const victim = members.find((member) => member.name !== leader)?.name ?? assert.fail('no follower');
  const possible = [0, 1, 2, 3].map((ordinal) => `${name}-${ordinal}`);
  const free = possible.find((one) => members.every((member) => member.name !== one)) ?? assert.fail('no free name');
  await kubectl(['-n', namespace, 'delete', 'pvc', victim, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', `${victim}-0`, '--grace-period=0', '--force', '--wait=false']);
  const isNew = ({ status }: EtcdCluster) => status?.members?.every((member) => member.name !== victim) === true;
  const calls = ['MemberRemove', 'MemberAdd', 'MemberPromote'];
  const names = { [victim]: 'old', [free]: 'new' };
  return { what: 'replaced', size: 3, calls, until: isWhole(3, isNew), names };
}

async function upgraded(name: string): Promise<Change> {
  await apply(name, { version: '3.6.16' });
  const runs = ({ status }: EtcdCluster) =>
    status?.clusterVersion === '3.6.0' && status.members?.every(({ version }) => version === '3.6.16') === true;
  return { what: 'upgraded', size: 3, calls: ['MoveLeader'], until: isWhole(3, runs) };
}

describe('killed before and after each write, of Kubernetes and of etcd, of what makes', { concurrency: true }, () => {
  test('one member three, and three one: whoever comes next finishes it, and no write is lost', async (t) => {
    const writer = await born('sized', { replicas: 1 });
    for (const size of [3, 1]) {
      const change = await resized('sized', size);
      t.diagnostic(await lives('sized', change));
    }
    t.diagnostic(await nothingLost(writer));
  });

  test('a new member out of a lost one, and 3.6 out of 3.5: whoever comes next finishes it, and no write is lost', async (t) => {
    const writer = await born('changed', { replicas: 3, version: '3.5.35' });
    for (const begin of [upgraded, bereft]) {
      const change = await begin('changed');
      t.diagnostic(await lives('changed', change));
    }
    t.diagnostic(await nothingLost(writer));
  });
});
