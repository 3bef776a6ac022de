import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endRecord } from '../../../functions/pass/end-record.ts';
import type { PassContext } from '../../../functions/pass/pass-context.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { labels } from '../../../manifests/render/names.ts';
import { recordKeys } from '../../../reconcile/fleet/pending-record.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { ForgeServer } from '../../support/git/forge.ts';
import type { Repository } from '../../support/git/repository.ts';
import { besideForge } from './forge-scene.ts';
import { wholePass } from './pass.ts';
import { clusterYaml, type Scene, setScene } from './scene.ts';

const home = 'etcd-ratchet';
const root = 'etcd-ratchet/production';

interface Stage extends AsyncDisposable {
  readonly scene: Scene;
  readonly forge: ForgeServer;
  readonly sha: string;
  readonly repository: Repository;
  readonly logged: string[];
  tick(overrides?: Partial<PassContext>): Promise<void>;
  records(): readonly ConfigMap[];
  addFleet(): void;
  deleteFleet(): Promise<void>;
}

async function setStage(): Promise<Stage> {
  const scene = await setScene();
  const { forge, repository, addFleet } = await besideForge(scene);
  const sha = await repository.commit({ 'a.yaml': clusterYaml('orders') });
  const logged: string[] = [];
  addFleet();
  return {
    scene,
    forge,
    sha,
    repository,
    logged,
    addFleet: () => void addFleet(),
    tick: async (overrides = {}) => {
      await wholePass(scene, {
        home,
        log: (facts, message) => logged.push(`${message} ${JSON.stringify(facts)}`),
        ...overrides,
      });
    },
    records: () =>
      scene.fake.stored<ConfigMap>(resources.configMaps).filter(({ data }) => data?.[recordKeys.record] !== undefined),
    deleteFleet: async () => {
      const { namespace, name, uid = '' } = scene.fleet().metadata;
      await scene.fake.delete(resources.fleets, namespace, name, { preconditions: { uid } });
    },
    [Symbol.asyncDispose]: async () => {
      await forge[Symbol.asyncDispose]();
      await scene[Symbol.asyncDispose]();
    },
  };
}

const states = ({ forge, sha }: Stage) =>
  Object.fromEntries([...forge.statusesOf(sha)].map(([context, { state }]) => [context, state]));
const both = (state: string) => ({ [root]: state, [`${root}/payments/orders`]: state });

test('the pending statuses of a deleted fleet end, and say that it was deleted', async () => {
  await using stage = await setStage();
  await stage.tick();
  assert.deepEqual(states(stage), both('pending'));
  assert.equal(stage.records()[0]?.metadata.namespace, home);
  assert.ok(!JSON.stringify(stage.records()).includes('forge-secret'));

  await stage.deleteFleet();
  await stage.tick();
  assert.deepEqual(states(stage), both('error'));
  assert.match(
    stage.forge.statusesOf(stage.sha).get(root)?.description ?? '',
    /EtcdFleet platform\/production was deleted/,
  );
  assert.deepEqual(stage.records(), []);
});

test('they end also where no cluster is left', async () => {
  await using stage = await setStage();
  await stage.tick();
  await stage.deleteFleet();
  for (const { metadata } of stage.scene.clusters()) {
    const { namespace, name, uid = '' } = metadata;
    await stage.scene.fake.delete(resources.clusters, namespace, name, { preconditions: { uid } });
  }
  await stage.tick();
  assert.deepEqual(states(stage), both('error'));
});

test('a tick that changes nothing asks no more for the record', async () => {
  await using stage = await setStage();
  await stage.tick();
  const before = stage.scene.fake.journal().length;
  await stage.tick();
  const asked = stage.scene.fake.journal().slice(before);
  const lists = asked.filter(({ verb, resource }) => verb === 'LIST' && resource.plural === 'configmaps');
  assert.equal(lists.length, 1, 'that of the step of clusters');
  assert.equal(asked.filter(({ namespace }) => namespace === home).length, 0);
});

test('nothing is kept once the forge shows nothing as pending', async () => {
  await using stage = await setStage();
  await stage.tick();
  assert.equal(stage.records().length, 1);
  await stage.repository.commit({ 'a.yaml': clusterYaml('orders').replace('3.6.16', 'latest') });
  await stage.tick();
  assert.deepEqual(stage.records(), []);
});

test('a fleet of the same name that reports on the repository speaks for it from now on', async () => {
  await using stage = await setStage();
  await stage.tick();
  await stage.deleteFleet();
  stage.addFleet();
  await stage.tick({ home: undefined });
  await stage.tick();
  assert.deepEqual(
    stage.forge.statuses.filter(({ state }) => state === 'error'),
    [],
  );
  assert.equal(stage.records().length, 1);
});

test('a record outside the namespace of the installation sends no Secret anywhere', async () => {
  await using stage = await setStage();
  await stage.tick();
  const [record] = stage.records();
  assert.ok(record?.data);
  await stage.deleteFleet();
  await stage.scene.fake.delete(resources.configMaps, home, record.metadata.name, {
    preconditions: { uid: record.metadata.uid ?? '' },
  });
  const { resourceVersion: _, uid: __, ...metadata } = record.metadata;
  stage.scene.fake.seed(resources.configMaps, { ...record, metadata: { ...metadata, namespace: 'platform' } });
  const before = stage.forge.requests.length;
  await stage.tick();
  assert.equal(stage.forge.requests.length, before);
  assert.equal(stage.records().length, 1);
});

test('without its Secret it is tried at growing intervals, and given up after a day', async () => {
  await using stage = await setStage();
  await stage.tick();
  await stage.deleteFleet();
  await stage.scene.fake.delete(resources.secrets, 'platform', 'forge', {
    preconditions: { uid: stage.scene.fake.stored(resources.secrets)[0]?.metadata.uid ?? '' },
  });
  await stage.tick();
  assert.match(stage.logged.join('\n'), /could not be ended: tried again .*InvalidCredentials/);
  const [record] = stage.records();
  assert.ok(record);
  await stage.tick();
  assert.deepEqual(stage.records(), [record], 'not before it is due');

  const retry = JSON.stringify({ since: '2020-01-01T00:00:00Z', attempts: 30, next: '2020-01-02T00:00:00Z' });
  await stage.scene.fake.update(resources.configMaps, {
    ...record,
    data: { ...record.data, [recordKeys.retry]: retry },
  });
  await stage.tick();
  assert.deepEqual(stage.records(), []);
  assert.match(stage.logged.join('\n'), /could not be ended: given up after a day/);
});

test('a record that is not understood is named, and left alone', async () => {
  await using stage = await setStage();
  await stage.tick();
  await stage.deleteFleet();
  const [record] = stage.records();
  assert.ok(record);
  await stage.scene.fake.update(resources.configMaps, { ...record, data: { [recordKeys.record]: '{"fleet":1}' } });
  await stage.tick();
  assert.deepEqual(states(stage), both('pending'));
  assert.equal(stage.records().length, 1);
  assert.match(stage.logged.join('\n'), /not understood/);
});

test('a fleet that is newer than the list of fleets keeps its statuses and its record', async () => {
  await using stage = await setStage();
  await stage.tick();
  const [record] = stage.records();
  assert.ok(record);
  const { kube } = stage.scene;
  const signal = AbortSignal.timeout(20_000);
  const listedBefore = { kube, log: () => {}, fleets: [], signal, forgeDeadline: Date.now() + 8_000, now: new Date() };
  await endRecord(record, listedBefore);
  assert.deepEqual(states(stage), both('pending'));
  assert.deepEqual(stage.records(), [record]);
});

test('of a namespace where fleets are deleted over and over, no more than 20 are on record', async () => {
  await using stage = await setStage();
  for (let number = 0; number < 20; number += 1) {
    const marks = { [labels.managedBy]: 'etcd-ratchet', [labels.pendingStatuses]: 'platform' };
    const metadata = { name: `etcd-ratchet-pending-${number}`, namespace: home, labels: marks };
    stage.scene.fake.seed(resources.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  }
  await stage.tick();
  assert.deepEqual(states(stage), both('pending'));
  assert.deepEqual(stage.records(), []);
});
