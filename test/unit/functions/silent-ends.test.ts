import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OnePassContext, onePass } from '../../../functions/pass/one-pass.ts';
import type { TickOptions } from '../../../functions/tick/options.ts';
import type { ConfigMap, Pod } from '../../../manifests/kube-types.ts';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { bornWith } from '../../support/world/born.ts';
import { etcdOf } from '../../support/world/etcd.ts';
import { passIn, tickOptions } from '../../support/world/passing.ts';
import { name, namespace, type World } from '../../support/world/world.ts';

/** An invocation that ends without a word, as for want of memory, and what the next ones do about it. */

const home = 'etcd-ratchet';
const key = `${namespace}/${name}`;

/** A pod of the installation that ended. */
function ended(pod: string, { now }: World, { exitCode = 137, agoSeconds = 30, labels = {} } = {}): Pod {
  const finishedAt = new Date(now() - agoSeconds * 1000).toISOString();
  const terminated = { exitCode, reason: exitCode === 137 ? 'OOMKilled' : 'Error', finishedAt };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod, namespace: home, uid: pod, labels: { 'app.kubernetes.io/name': 'etcd-ratchet', ...labels } },
    spec: { containers: [] },
    status: {
      phase: 'Failed',
      containerStatuses: [{ name: 'tick', ready: false, restartCount: 0, state: { terminated } }],
    },
  };
}

function record(pod: string, data: Readonly<Record<string, string>>): ConfigMap {
  const metadata = { name: `${pod}-asking`, namespace: home, uid: `${pod}-asking` };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

/** A world in which the last invocation ended without a word, and left that on record, if anything. */
async function afterSilence(data?: Readonly<Record<string, string>>): Promise<World> {
  const world = await bornWith({ replicas: 1 });
  world.kube.seed(resources.pods, ended('last', world));
  if (data) world.kube.seed(resources.configMaps, record('last', data));
  return world;
}

interface Seen {
  /** Data of the own record, each time that etcd is asked. */
  readonly onRecord: (ConfigMap['data'] | undefined)[];
  /** How many requests of the pass came before, each time that etcd is asked. */
  readonly after: number[];
  readonly logged: string[];
  /** Requests of the pass, as `LIST pods`. */
  readonly asked: string[];
}

interface How extends Partial<TickOptions>, Pick<Partial<OnePassContext>, 'clusters'> {
  readonly kube?: Partial<Kube>;
}

async function tick(world: World, { kube = {}, ...how }: How = {}, pod = 'next'): Promise<Seen> {
  const seen: Seen = { onRecord: [], after: [], logged: [], asked: [] };
  const before = world.kube.journal().length;
  await onePass(
    { ...tickOptions, ...how },
    {
      ...passIn(world, { holder: { pod: `${home}/${pod}`, uid: pod } }, pod),
      namespace: undefined,
      clusters: how.clusters ?? [],
      kube: { ...world.kube, ...kube },
      cronJob: { namespace: home, name: 'etcd-ratchet' },
      env: {},
      etcd: async (tls) => {
        const own = world.kube
          .stored<ConfigMap>(resources.configMaps)
          .find((one) => one.metadata.name === `${pod}-asking`);
        seen.onRecord.push(own?.data);
        seen.after.push(world.kube.journal().length - before);
        return etcdOf(world.state, tls);
      },
      log: (_, message) => void seen.logged.push(message),
    },
  );
  seen.asked.push(
    ...world.kube
      .journal()
      .slice(before)
      .map((one) => one.key),
  );
  return seen;
}

const records = ({ kube }: World) =>
  kube.stored<ConfigMap>(resources.configMaps).filter(({ metadata }) => metadata.name.endsWith('-asking'));

for (const [what, exitCode, more] of [
  ['with a code of its own', 1, {}],
  ['as it was told to', 143, {}],
  ['long ago', 137, { agoSeconds: 301 }],
  ['and is of something else', 137, { labels: { 'app.kubernetes.io/name': 'etcd' } }],
] as const)
  test(`after a pod that ended ${what}, nothing is put on record`, async () => {
    const world = await bornWith({ replicas: 1 });
    world.kube.seed(resources.pods, ended('last', world, { exitCode, ...more }));
    const { onRecord, asked } = await tick(world);
    assert.ok(onRecord.length > 0);
    assert.deepEqual([...new Set(onRecord)], [undefined]);
    assert.deepEqual(
      asked.filter((one) => /^(POST|PUT) configmaps/.test(one)),
      [],
    );
  });

test('after a silent end, each cluster is on record before it is asked', async () => {
  const world = await afterSilence();
  const { onRecord, logged } = await tick(world);
  assert.ok(onRecord.length > 0);
  for (const data of onRecord) assert.deepEqual(data, { suspects: '', asking: key });
  assert.match(logged.join('\n'), /last ended without a word \(OOMKilled, exit code 137\): taking care/);
  const [{ metadata }] = records(world) as [ConfigMap];
  assert.deepEqual(metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Pod', name: 'next', uid: 'next' }]);
});

test('what was being asked then is asked last and alone, after all else was told', async () => {
  const world = await afterSilence({ suspects: '', asking: key });
  const { onRecord, after, asked } = await tick(world);
  assert.ok(onRecord.length > 0);
  for (const data of onRecord) assert.deepEqual(data, { suspects: key, asking: key });
  for (const count of after) assert.ok(count > asked.indexOf('POST events'));
  assert.ok(asked.indexOf('POST events') > asked.lastIndexOf('LIST etcdbackups'));
  const told = world.kube.stored<{ metadata: { name: string }; reason?: string } & ConfigMap>(resources.events);
  assert.deepEqual(
    told.filter(({ reason }) => reason === 'AskedAlone').map(({ metadata }) => metadata.name.split('.')[0]),
    [name],
  );
  // Nothing ended: it counts no more.
  assert.deepEqual(
    records(world).map(({ metadata }) => metadata.name),
    ['next-asking'],
  );
});

test('of two that end passes, the one that was asked longer ago is asked first', async () => {
  const world = await afterSilence({ suspects: `${key}\nother/a\nother/b`, asking: 'other/a' });
  const { onRecord } = await tick(world);
  assert.deepEqual(onRecord[0], { suspects: `${key}\nother/b\nother/a`, asking: key });
});

test('of two silent ends the later one says what was asked', async () => {
  const world = await bornWith({ replicas: 1 });
  world.kube.seed(resources.pods, ended('first', world, { agoSeconds: 90 }), ended('last', world));
  world.kube.seed(resources.configMaps, record('first', { asking: 'other/a' }), record('last', { asking: key }));
  const { onRecord } = await tick(world);
  assert.deepEqual(onRecord[0], { suspects: key, asking: key });
  assert.deepEqual(
    records(world).map(({ metadata }) => metadata.name),
    ['next-asking'],
  );
});

test('a follow-up leaves out what a tick asks alone, and keeps no record', async () => {
  const world = await afterSilence({ asking: key });
  assert.deepEqual((await tick(world, { followUp: {} })).onRecord, []);
  assert.deepEqual(
    records(world).map(({ metadata }) => metadata.name),
    ['last-asking'],
  );
});

test('an invocation about some clusters asks them as ever', async () => {
  const world = await afterSilence({ asking: key });
  const { onRecord } = await tick(world, { clusters: [{ namespace, name }] });
  assert.deepEqual([...new Set(onRecord)], [undefined]);
});

test('where time is over, the next pass begins with those that were not asked alone yet', async () => {
  const world = await afterSilence({ suspects: `${key}\nother/a`, asking: '' });
  let asked = 0;
  const list: Kube['list'] = async (resource, options) => {
    if (resource === resources.fleets && ++asked === 3)
      throw new KubeError('no', { class: 'terminal', reason: 'Forbidden', status: 403 });
    return world.kube.list(resource, options);
  };
  const { logged } = await tick(world, { kube: { list } });
  assert.match(logged.join('\n'), /it could not be asked alone: a later pass does/);
  const left = records(world).find(({ metadata }) => metadata.name === 'last-asking');
  assert.deepEqual(left?.data, { suspects: 'other/a', asking: '' });
});

for (const [what, kube, problem] of [
  [
    'the record can not be written',
    { create: () => Promise.reject(new KubeError('no', { class: 'terminal', reason: 'Forbidden', status: 403 })) },
    /which clusters are about to be asked is not on record/,
  ],
  [
    'pods of the installation can not be listed',
    (world: World): Partial<Kube> => ({
      list: (resource, options) =>
        options.fieldSelector === undefined
          ? world.kube.list(resource, options)
          : Promise.reject(new KubeError('no', { class: 'terminal', reason: 'Forbidden', status: 403 })),
    }),
    /whether an invocation ended without a word is not known/,
  ],
] as const)
  test(`where ${what}, that is logged, and all are asked`, async () => {
    const world = await afterSilence();
    const { onRecord, logged } = await tick(world, { kube: typeof kube === 'function' ? kube(world) : kube });
    assert.ok(onRecord.length > 0);
    assert.match(logged.join('\n'), problem);
  });
