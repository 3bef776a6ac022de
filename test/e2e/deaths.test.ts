import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { PersistentVolumeClaim } from '../../manifests/kube-types.ts';
import { annotations } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { approvalAskedBy, approve } from './support/approvals.ts';
import { connectTo } from './support/client.ts';
import { condition, isStalledFor, isWholeOf } from './support/conditions.ts';
import { type Dying, dyingUntil } from './support/deaths.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter, type Writer } from './support/writer.ts';

const stage = scene({ fleet: false });

// A learner has as long to come: long enough for all who die while it does.
const healing = { podGracePeriod: '10s', memberGracePeriod: '25s' };

/** A change of a cluster that is whole, to one that is whole again. */
interface Change extends Pick<Dying, 'until'> {
  readonly what: string;
  /** Voters that there are afterwards. */
  readonly size: number;
  /** Writes that must occur meanwhile, among others. */
  readonly writes: readonly RegExp[];
}

async function apply(name: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { kubectl, namespace } = stage();
  const stdin = clusterYaml(name, namespace, { healing, ...fields });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
}

function isWhole(size: number, also: (cluster: EtcdCluster) => boolean = () => true) {
  return (cluster: EtcdCluster) =>
    isWholeOf(size)(cluster) && cluster.status?.members?.length === size && also(cluster);
}

/** Nobody dies. Only this cluster's: the others' deaths are their own. */
function livingUntil(name: string, until: (cluster: EtcdCluster) => boolean): Promise<EtcdCluster> {
  return stage().stepUntil(name, until, 120);
}

async function born(name: string, fields: { readonly replicas: number; readonly version?: string }): Promise<void> {
  await apply(name, fields);
  await livingUntil(name, isWhole(fields.replicas));
}

async function written(name: string, prefix: string): Promise<Writer> {
  const writer = startWriter(await stage().access(name), prefix);
  await until('fifty writes', async () => writer.acknowledged >= 50);
  return writer;
}

async function volumesOf(name: string): Promise<readonly PersistentVolumeClaim[]> {
  const volumes = await stage().list<PersistentVolumeClaim>(resources.volumeClaims);
  // One whose member was given up is kept for a day.
  return volumes.filter(
    ({ metadata }) =>
      metadata.name.startsWith(`${name}-`) && metadata.annotations?.[annotations.replacedAt] === undefined,
  );
}

/** As Kubernetes, the volumes and etcd itself have it, each for itself. */
async function assertWhole(name: string, size: number): Promise<void> {
  const { cluster, access } = stage();
  const { status } = await cluster(name);
  const members = (status?.members ?? []).map((member) => member.name).toSorted();
  assert.ok(status?.members?.every(({ role, healthy }) => role === 'Voter' && healthy));
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

/** What can't be taken back has a death before it, too (`mortal.ts`). */
const forGood = /Member|MoveLeader|eviction|DELETE/;

/** All deaths in one life, each followed by the next. */
async function livesThrough(name: string, change: Change): Promise<string> {
  const places = await dyingUntil(stage(), name, { ...change, within: 300 });
  await livingUntil(name, isWhole(change.size));
  await assertWhole(name, change.size);
  const deaths = (when: string) => places.filter((place) => place.startsWith(`${when} `));
  const [before, after] = [deaths('before'), deaths('after')];
  for (const write of change.writes) {
    const isMet = (place: string) => write.test(place);
    assert.ok(after.some(isMet), `${write}: ${places.join(', ')}`);
    if (forGood.test(write.source)) assert.ok(before.some(isMet), `before ${write}: ${places.join(', ')}`);
  }
  assert.ok(after.length >= 10, places.join('\n'));
  return `${change.what}: ${before.length} deaths before a write, ${after.length} after one`;
}

async function resized(name: string, size: number): Promise<Change> {
  await apply(name, { replicas: size });
  const writes = size > 1 ? [/MemberAdd/, /MemberPromote/] : [/MemberRemove/];
  return { what: `to ${size}`, size, writes, until: isWhole(size) };
}

/** A follower of three, whose volume is gone for good. */
async function bereft(name: string): Promise<Change> {
  const { kubectl, namespace, cluster } = stage();
  const { members = [], leader } = (await cluster(name)).status ?? {};
  const { name: victim, id } = members.find((member) => member.name !== leader) ?? assert.fail('no follower');
  await kubectl(['-n', namespace, 'delete', 'pvc', victim, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', `${victim}-0`, '--grace-period=0', '--force', '--wait=false']);
  // Not by its name, which is free again for the second who tries to take its place.
  const isNew = ({ status }: EtcdCluster) => status?.members?.every((member) => member.id !== id) === true;
  const writes = [/MemberRemove/, /MemberAdd/, /MemberPromote/];
  return { what: 'a member replaced', size: 3, writes, until: isWhole(3, isNew) };
}

async function upgraded(name: string): Promise<Change> {
  await apply(name, { version: '3.6.16' });
  const runs = ({ status }: EtcdCluster) =>
    status?.clusterVersion === '3.6.0' && status.members?.every(({ version }) => version === '3.6.16') === true;
  return { what: '3.5 to 3.6', size: 3, writes: [/MoveLeader/, /eviction/], until: isWhole(3, runs) };
}

/** Two of three have lost their volumes, and a person has approved that it goes on without them. */
async function recovering(name: string): Promise<Change> {
  const { kubectl, namespace, cluster } = stage();
  const { members = [], leader } = (await cluster(name)).status ?? {};
  const lost = members.map((member) => member.name).filter((member) => member !== leader);
  await kubectl(['-n', namespace, 'delete', 'pvc', ...lost, '--wait=false']);
  await kubectl(['-n', namespace, 'delete', 'pod', ...lost.map((member) => `${member}-0`), '--grace-period=1']);
  // A survivor on a slow disk still works off what the lost ones told it: an approval of less than it has then is void.
  const stalled = await livingUntil(name, isStalledFor('QuorumLost', { unchanged: true }));
  await approve(stage(), name, approvalAskedBy(stalled));
  // From then on it grows like any other.
  const serves = (cluster: EtcdCluster) => condition(cluster, 'Available')?.status === 'True';
  return { what: 'the quorum recovered', size: 3, writes: [/POST jobs/, /DELETE jobs/], until: serves };
}

/** As many volumes, peers and the rest as members, each recorded before any starts. */
async function conceived(name: string): Promise<Change> {
  await apply(name, { replicas: 3 });
  const writes = [/POST persistentvolumeclaims/, /POST statefulsets/, /(POST|PUT) services/];
  return { what: 'born', size: 3, writes, until: isWhole(3) };
}

describe('killed after each write, and before what is for good, of what makes', { concurrency: 2 }, () => {
  test('one member three, and three one: the next invocation finishes it, and no write is lost', async (t) => {
    await born('sized', { replicas: 1 });
    const writer = await written('sized', 'deaths');
    for (const size of [3, 1]) t.diagnostic(await livesThrough('sized', await resized('sized', size)));
    t.diagnostic(await nothingLost(writer));
  });

  test('3.6 out of 3.5, and replaces a lost member: the next invocation finishes it, no write lost', async (t) => {
    await born('changed', { replicas: 3, version: '3.5.35' });
    const writer = await written('changed', 'deaths');
    for (const begin of [upgraded, bereft]) t.diagnostic(await livesThrough('changed', await begin('changed')));
    t.diagnostic(await nothingLost(writer));
  });

  test('a birth of three, and recovers a lost quorum: the next invocation finishes it', async (t) => {
    t.diagnostic(await livesThrough('fresh', await conceived('fresh')));
    const writer = await written('fresh', 'deaths');
    t.diagnostic(await livesThrough('fresh', await recovering('fresh')));
    t.diagnostic(await nothingLost(writer));
  });
});

/** As many as this at once: they are mostly waiting. */
const lanes = 3;

/**
 * What a cluster goes through again and again, from whole to whole: each time one invocation dies in one place that
 * none has died in, and all after it live.
 */
async function livesOncePerPlace(
  prefix: string,
  replicas: number,
  round: readonly ((name: string) => Promise<Change>)[],
) {
  const names = Array.from({ length: lanes }, (_, lane) => `${prefix}-${lane}`);
  await Promise.all(names.map((name) => born(name, { replicas })));
  const [first = ''] = names;
  const places: (readonly string[])[] = [];
  for (const begin of round) places.push(await lifeWith(first, begin, 'nowhere'));
  const rounds = Math.max(...places.map(({ length }) => length));
  let deaths = 0;
  await Promise.all(
    names.map(async (name, lane) => {
      for (let number = lane; number < rounds; number += lanes) {
        for (const [index, begin] of round.entries()) {
          const met = await lifeWith(name, begin, places[index]?.[number]);
          // It takes hours: whoever watches sees how far it is.
          for (const place of met) console.log(`${name} lived on after a death ${place}`);
          deaths += met.length;
        }
      }
    }),
  );
  return { deaths, places: places.flat().length };

  async function lifeWith(name: string, begin: (name: string) => Promise<Change>, dies = 'nowhere') {
    const writer = await written(name, `life-${++lives}`);
    const { size, until } = await begin(name);
    const met = await dyingUntil(stage(), name, { until, dies, within: 300 });
    await assertWhole(name, size);
    await nothingLost(writer);
    return dies === 'nowhere' && places.length === round.length ? [] : met;
  }
}

let lives = 0;

if (process.env.EXHAUSTIVE) {
  for (const [what, prefix, replicas, round] of [
    ['1 to 3 members, and 3 to 1', 'size', 1, [(name) => resized(name, 3), (name) => resized(name, 1)]],
    ['the replacement of a lost member', 'heal', 3, [bereft]],
  ] as const satisfies readonly (readonly [string, string, number, readonly ((name: string) => Promise<Change>)[]])[]) {
    test(`killed before or after one write of ${what}, a life for each: all that come next finish it`, async (t) => {
      const { deaths, places } = await livesOncePerPlace(prefix, replicas, round);
      t.diagnostic(`${deaths} deaths in ${places} places`);
      // Some are only met when something is late.
      assert.ok(deaths >= places * 0.8, `${deaths} of ${places}`);
    });
  }
}
