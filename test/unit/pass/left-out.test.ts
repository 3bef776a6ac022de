import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from '../../../functions/pass/pass.ts';
import { render } from '../../../functions/tick/output.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import { type Kube, type LeftOut, resources } from '../../../reconcile/interfaces/kube.ts';
import { passIn } from '../../support/world/passing.ts';
import { createWorld, namespace } from '../../support/world/world.ts';

const mebibyte = 1024 * 1024;
const why: LeftOut = { bytes: 70 * mebibyte, plural: 'configmaps', mostBytes: 60 * mebibyte };

async function passLeavingOut(left: string, { late = false } = {}) {
  const world = createWorld();
  await world.apply();
  const spec = { clusterName: 'orders', to: { object: 's3://bucket/{{timestamp}}.db' } };
  world.kube.seed(resources.backups, { metadata: { namespace, name: 'now', uid: 'now' }, spec } as EtcdBackup);
  const template = spec;
  const nightly = {
    metadata: { namespace, name: 'nightly', uid: 'nightly' },
    spec: { schedule: '0 3 * * *', template },
  };
  world.kube.seed(resources.schedules, nightly as unknown as EtcdBackupSchedule);
  const all = new Map([[left, why]]);
  let lists = 0;
  const kube: Kube = {
    ...world.kube,
    list: (...args) => {
      lists += 1;
      return world.kube.list(...args);
    },
    leftOut: () => (late && lists < 3 ? new Map() : all),
  };
  const before = world.kube.journal().length;
  const result = await pass(passIn(world, { kube }));
  const writes = world.kube
    .journal()
    .slice(before)
    .filter(({ verb }) => !['LIST', 'GET', 'WATCH'].includes(verb));
  return { result, writes };
}

for (const late of [false, true])
  test(`a cluster of a namespace that is left out ${late ? 'meanwhile ' : ''}gets no step, and that is told`, async () => {
    const { result, writes } = await passLeavingOut(namespace, { late });
    assert.deepEqual(
      result.clusters.map(({ reason, outcome }) => [reason, outcome]),
      [['NamespaceLeftOut', 'failed']],
    );
    assert.deepEqual([...(result.results.backup ?? []), ...(result.results.schedule ?? [])], []);
    assert.deepEqual(
      writes.map(({ key }) => key),
      ['POST events'],
    );
    const { note = '' } = (writes[0]?.body ?? {}) as { readonly note?: string };
    assert.match(note, /about 70 MiB .* most of it configmaps.* 60 MiB .*kubectl .*get configmaps/s);
    const json = JSON.parse(render(result, { output: 'json', clusters: [] }, { requests: {} })) as object;
    assert.deepEqual(json, { ...json, namespacesLeftOut: { [namespace]: why } });
  });

test('a cluster of another namespace is stepped as ever', async () => {
  const { result } = await passLeavingOut('mallory');
  assert.deepEqual(
    result.clusters.map(({ outcome }) => outcome),
    ['acted'],
  );
  assert.equal(result.results.schedule?.length, 1);
});
