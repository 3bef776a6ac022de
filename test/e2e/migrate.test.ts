/** The commands of docs/how-to/migrate.md, typed beside an etcd that etcd-ratchet does not run. */

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { environmentFile } from '../demo/stay.ts';
import { provisionBinaries } from '../support/cluster/binaries.ts';
import { blocksOf } from '../support/docs/blocks.ts';
import { pagesOf } from '../support/docs/typed-by.ts';
import { condition, isStalledFor, isWholeOf } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { legacyEtcd } from './support/legacy-etcd.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { follow } from './support/tutorial.ts';

const stage = scene({ fleet: false });

test('the page about migrating leads from an etcd of others to a cluster with its keys', async () => {
  const { namespace, kubectl, get } = stage();
  const keys = ['a', 'b', 'c', 'd', 'e'];
  const legacy = await legacyEtcd(stage(), 'legacy', 3);
  for (const key of keys) await legacy.put(key, `value of ${key}`);
  const before = await legacy.read();

  const directory = await mkdtemp(join(tmpdir(), 'migrate-'));
  const ended = new AbortController();
  try {
    const environment = await environmentFile(directory, await provisionBinaries(), {
      KUBECONFIG: process.env.KUBECONFIG ?? '',
    });
    const written = await Promise.all(pagesOf('e2e/migrate').map(pageOf));
    const first = { page: 'the environment', line: 1, kind: 'sh', text: `. ${environment}\n` } as const;
    const followed = follow([first, ...written.flat()], { cwd: directory, env: process.env });
    await Promise.all([ticking(ended.signal), followed.finally(() => ended.abort())]);
  } finally {
    ended.abort();
    await rm(directory, { recursive: true });
  }

  assert.deepEqual(await legacy.read(), before, 'the old one is only read');
  const cluster = await get<EtcdCluster>(resources.clusters, 'orders');
  const backup = await get<EtcdBackup>(resources.backups, 'legacy');
  assert.equal(backup?.status?.clusterID, legacy.clusterId);
  assert.notEqual(cluster?.status?.clusterID, legacy.clusterId);
  assert.deepEqual(await readAll('orders', keys), Object.fromEntries(keys.map((key) => [key, `value of ${key}`])));
  await kubectl(['-n', namespace, 'delete', 'etcdclusters.etcd.ratchet.dev', '--all', '--wait=false']);
});

test('authentication and alarms that a snapshot brings along hold up no birth', async () => {
  const { tickUntil, access, kubectl, namespace } = stage();
  const legacy = await legacyEtcd(stage(), 'guarded', 1);
  await legacy.put('kept', 'yes');
  for (const alarm of ['NOSPACE', 'CORRUPT'])
    await legacy.ask('/v3/maintenance/alarm', { action: 'ACTIVATE', alarm, memberID: '123' });
  const password = 'of-root';
  await legacy.ask('/v3/auth/user/add', { name: 'root', password });
  await legacy.ask('/v3/auth/role/add', { name: 'root' });
  await legacy.ask('/v3/auth/user/grant', { user: 'root', role: 'root' });
  await legacy.ask('/v3/auth/user/add', { name: 'later-client', options: { no_password: true } });
  await legacy.ask('/v3/auth/user/grant', { user: 'later-client', role: 'root' });
  await legacy.ask('/v3/auth/enable', {});
  await saved('guarded', ['--user', `root:${password}`]);
  await bornOf('guarded', { name: 'later', version: '3.6.16' });
  await tickUntil('later', isWholeOf(1), 120);
  const way = await access('later');
  assert.equal(await readKey(way, 'kept'), 'yes');
  await writeKey(way, 'new', 'yes');
  await kubectl(['-n', namespace, 'delete', 'etcdclusters.etcd.ratchet.dev', 'later', '--wait=false']);
});

test('a snapshot of a newer minor is refused by what is in it, where no record says so', async () => {
  const { stepUntil, get, kubectl, namespace } = stage();
  await legacyEtcd(stage(), 'newest', 1, '3.7.3');
  await saved('newest');
  await bornOf('newest', { name: 'too-low', version: '3.6.16' });
  const found = await stepUntil('too-low', isStalledFor('SnapshotTooNew'), 90);
  assert.match(condition(found, 'Stalled')?.message ?? '', /the data in the snapshot are of etcd 3\.7\.0/);
  assert.equal(await get<Pod>(resources.pods, 'too-low-0-0'), undefined, 'no etcd was started on it');
  await bornOf('newest', { name: 'too-low', version: '3.7.3' });
  await stepUntil('too-low', isWholeOf(1), 120);
  await kubectl(['-n', namespace, 'delete', 'etcdclusters.etcd.ratchet.dev', 'too-low', '--wait=false']);
});

/** On PVC `backups`, by etcd's own tool in a pod, as `<name>.db`. */
async function saved(name: string, options: readonly string[] = []): Promise<void> {
  const { kubectl, namespace } = stage();
  const endpoint = `http://${name}-0.${name}.${namespace}.svc:2379`;
  const spec = {
    restartPolicy: 'Never',
    containers: [
      {
        name: 'save',
        image: 'quay.io/coreos/etcd:v3.6.16',
        command: ['/usr/local/bin/etcdctl', `--endpoints=${endpoint}`, ...options],
        args: ['snapshot', 'save', `/backups/${name}.db`],
        volumeMounts: [{ name: 'backups', mountPath: '/backups' }],
      },
    ],
    volumes: [{ name: 'backups', persistentVolumeClaim: { claimName: 'backups' } }],
  };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `save-${name}`, namespace }, spec };
  await kubectl(['create', '-f', '-'], { stdin: JSON.stringify(pod) });
  const within = ['-n', namespace, `pod/save-${name}`];
  await kubectl(['wait', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=60s', ...within]);
}

async function bornOf(file: string, { name, version }: { readonly name: string; readonly version: string }) {
  const { kubectl, namespace } = stage();
  const bootstrap = { snapshot: { object: `pvc://backups/${file}.db` } };
  const stdin = clusterYaml(name, namespace, { replicas: 1, version, bootstrap });
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin });
}

/** As it is for the scene's namespace. */
async function pageOf(page: string) {
  const text = await readFile(join(import.meta.dirname, '../..', page), 'utf8');
  return blocksOf(page, text.replaceAll('payments', stage().namespace));
}

/** What the CronJob does for the reader of the page. */
async function ticking(signal: AbortSignal): Promise<void> {
  await stage().ticksUntil('the page is followed', () => signal.aborted, { within: 600 });
}

async function readAll(name: string, keys: readonly string[]): Promise<Readonly<Record<string, string | null>>> {
  const access = await stage().access(name);
  return Object.fromEntries(await Promise.all(keys.map(async (key) => [key, await readKey(access, key)])));
}
