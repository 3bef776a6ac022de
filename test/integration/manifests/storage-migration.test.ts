import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Etcd3 } from 'etcd3';
import { entryOf } from '../../../functions/entry.ts';
import { group } from '../../../manifests/api/group.ts';
import { definitions } from '../../../manifests/api/kinds.ts';
import { crdOf } from '../../../manifests/install/crd.ts';
import type { Kube } from '../../../reconcile/interfaces/kube.ts';
import { migrateStorage } from '../../../reconcile/storage/migrate.ts';
import { startApiProxy } from '../../e2e/support/api-proxy.ts';
import { startTick, tick } from '../../e2e/support/tick.ts';
import * as documents from '../../unit/manifests/api-documents.ts';
import { install, startApiServer } from './api-server.ts';
import { untilAllowed } from './until-allowed.ts';

/**
 * A second version behind a flag: the CRDs get `v1beta1`, which is stored from then on. What an API server stores is
 * read from its own etcd.
 */

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
const controlPlane = new Etcd3({ hosts: 'http://127.0.0.1:12379' });
after(() => controlPlane.close());

interface Stored {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number };
  readonly spec: object;
}

async function allStored(): Promise<Stored[]> {
  const found = await controlPlane.getAll().prefix(`/registry/${group}/`).strings();
  return Object.entries(found)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => JSON.parse(text));
}

async function applyCrds(...served: readonly string[]): Promise<void> {
  const items = Object.values(definitions).map((definition) => crdOf(definition, served));
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await api.kubectl(['apply', '--server-side', '-f', '-'], { stdin: list });
}

async function storedVersions(): Promise<string[]> {
  const names = Object.values(definitions).map(({ plural }) => `${plural}.${group}`);
  const said = await api.kubectl(['get', 'crd', ...names, '-o', 'jsonpath={.items[*].status.storedVersions}']);
  return said.split(' ');
}

/** As an invocation that dies before its `most`th write, and writes nothing more. */
function dyingAfter(kube: Kube, most: number): Kube {
  let writes = 0;
  const mortal =
    <T extends readonly unknown[], R>(write: (...args: T) => Promise<R>) =>
    (...args: T): Promise<R> => {
      writes++;
      return writes > most ? Promise.reject(new Death()) : write(...args);
    };
  return {
    ...kube,
    now: () => kube.now(),
    update: mortal(kube.update.bind(kube)) as Kube['update'],
    updateStatus: mortal(kube.updateStatus.bind(kube)) as Kube['updateStatus'],
  };
}

class Death extends Error {}

const { cluster, fleet, peer, backup, schedule, restore, nodePolicy } = documents;
const copies = 12;
const account = 'system:serviceaccount:etcd-ratchet:etcd-ratchet';

await api.kubectl(['create', 'namespace', 'etcd-ratchet']);
await api.kubectl(['-n', 'etcd-ratchet', 'create', 'serviceaccount', 'etcd-ratchet']);
await api.kubectl(['apply', '-f', join(install, 'components/storage-migration/role.yaml')]);
const many = Array.from({ length: copies }, (_, n) => ({
  ...cluster,
  metadata: { ...cluster.metadata, name: `orders-${n}x` },
}));
for (const document of [cluster, fleet, peer, backup, schedule, restore, nodePolicy, ...many])
  await api.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(document) });

const kube = await api.kubeOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' });
const context = { signal: AbortSignal.timeout(240_000), log: () => {}, learntAfter: 0 };

test('objects stored at the old version all move to the new one, past a death before every write', async () => {
  const before = await allStored();
  assert.equal(before.length, 7 + copies);
  assert.ok(before.every(({ apiVersion }) => apiVersion === `${group}/v1alpha1`));
  const idle = await migrateStorage({ ...context, kube });
  assert.ok(
    idle.length === 7 && idle.every(({ outcome }) => outcome === 'nothing'),
    'with one version there is nothing to do',
  );

  await applyCrds('v1alpha1', 'v1beta1');
  const both = await storedVersions();
  assert.ok(both.length === 7 && both.every((one) => one === '["v1alpha1","v1beta1"]'), both.join(' '));
  assert.deepEqual(await allStored(), before, 'another storage version alone moves nothing');
  const waiting = await migrateStorage({ ...context, kube, learntAfter: 3_600_000 });
  assert.ok(
    waiting.every(({ outcome }) => outcome === 'waits'),
    'an API server may not have learnt of it',
  );

  let finished: Awaited<ReturnType<typeof migrateStorage>> | undefined;
  let deaths = 0;
  for (let most = 0; finished === undefined; most++) {
    assert.ok(most <= before.length + 8, 'it comes to an end');
    try {
      finished = await migrateStorage({ ...context, kube: dyingAfter(kube, most) });
    } catch (error) {
      if (!(error instanceof Death)) throw error;
      deaths++;
      const now = await allStored();
      assert.deepEqual(now.map(shape), before.map(shape), `nothing is lost or changed after ${most} writes`);
    }
  }
  assert.ok(deaths > 7, `${deaths} deaths`);
  const stored = await allStored();
  assert.ok(stored.every(({ apiVersion }) => apiVersion === `${group}/v1beta1`));
  assert.deepEqual(stored.map(shape), before.map(shape));
  assert.deepEqual(new Set(await storedVersions()), new Set(['["v1beta1"]']));
});

test('then the old version can be taken out, and every object is still there', async () => {
  await applyCrds('v1beta1');
  const list = await api.kubectl(['get', 'etcdclusters.v1beta1.etcd.ratchet.dev', '-o', 'name']);
  assert.equal(list.trim().split('\n').length, 1 + copies);
});

test('ticks move them back again: one is killed amid its writes, and the next one ends it', async () => {
  const before = await allStored();
  await applyCrds('v1beta1', 'v1alpha1');
  await forgetWhenCrdsWereWritten();
  await api.kubectl(['create', 'clusterrolebinding', 'ticks', '--clusterrole=cluster-admin', `--user=${account}`]);
  await untilAllowed(api.kubectl, [`--as=${account}`], ['update', 'etcdclusters.etcd.ratchet.dev']);
  await using directory = await mkdtempDisposable(join(tmpdir(), 'storage-migration-'));
  const own = join(directory.path, 'kubeconfig');
  await writeFile(own, await api.kubeconfigOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' }), { mode: 0o600 });

  // Nothing is in that namespace: the pass is empty, and storage is of all namespaces.
  const args = ['--namespace', 'empty'];
  // As the image has it, but built from nothing.
  const program = join(directory.path, 'tick.mjs');
  await writeFile(program, entryOf('tick', join(import.meta.dirname, '../../../functions/tick.ts')));
  const tickBy = (kubeconfig: string) => ({
    args,
    program,
    env: { KUBECONFIG: kubeconfig, RATCHET_STORAGE_MIGRATION: 'Enabled' },
  });
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  await using proxy = await startApiProxy(own, join(directory.path, 'through-proxy'), ({ write, path }) =>
    write > copies / 2 && path.includes(`/${group}/`) ? { kind: 'drop', act: reach } : { kind: 'pass' },
  );
  const child = startTick(tickBy(proxy.kubeconfig));
  const exited = once(child, 'exit');
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  assert.equal(
    await Promise.race([reached, exited]),
    undefined,
    `it gets that far: ${said}${proxy.requests.join('\n')}`,
  );
  child.kill('SIGKILL');
  await exited;
  const amid = await allStored();
  assert.deepEqual(
    new Set(amid.map(({ apiVersion }) => apiVersion)),
    new Set([`${group}/v1alpha1`, `${group}/v1beta1`]),
    'some are moved, and some are not',
  );
  assert.ok((await storedVersions()).includes('["v1beta1","v1alpha1"]'));

  const { code, stderr } = await tick(tickBy(own));
  assert.equal(code, 0, stderr);
  assert.match(stderr, /storage of a kind is migrated/);
  const stored = await allStored();
  assert.ok(stored.every(({ apiVersion }) => apiVersion === `${group}/v1alpha1`));
  assert.deepEqual(stored.map(shape), before.map(shape));
  assert.deepEqual(new Set(await storedVersions()), new Set(['["v1alpha1"]']));
});

/** A tick waits for a minute after the last write that a CRD notes; without notes it was written long ago. */
async function forgetWhenCrdsWereWritten(): Promise<void> {
  const patch = JSON.stringify([{ op: 'replace', path: '/metadata/managedFields', value: [{}] }]);
  for (const { plural } of Object.values(definitions))
    await api.kubectl(['patch', 'crd', `${plural}.${group}`, '--type=json', '-p', patch]);
}

function shape({ kind, metadata: { name, uid, generation }, spec }: Stored) {
  return { kind, name, uid, generation, spec };
}
