/** `kubectl ratchet` beside a cluster of real members: what it foresees is what the next step does. */

import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { EtcdClusterStatus } from '../../manifests/api/etcd-cluster-status.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { kubectlRatchet } from '../integration/manifests/kubectl-ratchet.ts';
import { provisionBinaries } from '../support/cluster/binaries.ts';
import { isWholeOf } from './support/conditions.ts';
import { doneIn } from './support/done.ts';
import { assertForetold, type Foretold } from './support/foretold.ts';
import { installNamespaced } from './support/installed.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';

const stage = scene({ fleet: false });
const made: Awaited<ReturnType<typeof kubectlRatchet>>[] = [];
after(() => Promise.all(made.map((plugin) => plugin[Symbol.asyncDispose]())));

test('plan and check ask the members themselves, and plan of a file is what then is done', async (t) => {
  const { kubectl, namespace, tickUntil } = stage();
  const plugin = await kubectlRatchet(process.env.KUBECONFIG ?? assert.fail('KUBECONFIG is not set'));
  made.push(plugin);
  const ratchet = (...args: readonly string[]) => plugin.ratchet('-n', namespace, ...args);
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('orders', namespace, { replicas: 1 }) });
  const before = await ratchet('check', 'orders');
  assert.equal(before.code, 4, before.stderr);
  await tickUntil('orders', isWholeOf(1), 120);

  const well = await ratchet('check', 'orders', '-o', 'json');
  assert.equal(well.code, 0, well.stderr + well.stdout);
  assert.deepEqual(JSON.parse(well.stdout).unread, { forbidden: [], silent: [] });

  const file = join(plugin.directory, 'orders.yaml');
  await writeFile(file, clusterYaml('orders', namespace, { replicas: 2 }));
  const planned = await ratchet('plan', 'orders', '-f', file, '--exit-code', '-o', 'json');
  assert.equal(planned.code, 4, planned.stderr);
  const foretold: Foretold = JSON.parse(planned.stdout).planned;
  assert.deepEqual(
    foretold.steps.map(({ action }) => action),
    ['prepare-members', 'seal-members'],
  );
  await kubectl(['apply', '--server-side', '-f', file]);
  const whole = await tickUntil('orders', isWholeOf(2), 120);
  t.diagnostic(assertForetold(foretold, whole));
});

test('move-leader hands over, and etcdctl sees it with what the plugin gives it', async (t) => {
  const { namespace } = stage();
  const [plugin = assert.fail('the first test installs it')] = made;
  await symlink((await provisionBinaries()).etcdctl, join(plugin.directory, 'etcdctl'));
  const ratchet = (...args: readonly string[]) => plugin.ratchet('-n', namespace, ...args);
  const moved = await ratchet('move-leader', 'orders', '-o', 'json');
  assert.equal(moved.code, 0, moved.stderr);
  const { from, to, milliseconds } = JSON.parse(moved.stdout);
  assert.deepEqual([from, to].toSorted(), ['orders-0', 'orders-1']);
  t.diagnostic(`without a leader for at most ${milliseconds} ms`);
  const status = await ratchet('etcdctl', 'orders', '--', 'endpoint', 'status', '-w', 'json');
  assert.equal(status.code, 0, status.stderr);
  const list = await ratchet('etcdctl', 'orders', '--', 'member', 'list', '--hex');
  const [id = ''] =
    list.stdout
      .split('\n')
      .find((line) => line.includes(`, ${to}, `))
      ?.split(',') ?? [];
  const endpoints = JSON.parse(status.stdout) as { Endpoint: string; Status: { leader: number | bigint } }[];
  assert.equal(endpoints.length, 2);
  // IDs use 64 bits, and JSON's numbers here fewer.
  for (const { Endpoint, Status } of endpoints) {
    assert.match(Endpoint, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(Number(Status.leader), Number(BigInt(`0x${id}`)));
  }
  const refused = await ratchet('move-leader', 'orders', '--to', 'orders-7');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /no member orders-7 of .*\/orders answers; these do: orders-0, orders-1/);
});

test('defrag asks each member once: etcd rewrites its files, and why says what is left', async () => {
  const { namespace, tickUntil } = stage();
  const [plugin = assert.fail('the first test installs it')] = made;
  const ratchet = (...args: readonly string[]) => plugin.ratchet('-n', namespace, ...args);
  const asked = await ratchet('defrag', 'orders', '--wait=0', '-o', 'json');
  assert.equal(asked.code, 0, asked.stderr);
  const { request } = JSON.parse(asked.stdout);
  assert.match((await ratchet('why', 'orders')).stdout, /still to come: orders-0, orders-1\n/);
  const members = (status: EtcdClusterStatus | undefined) => status?.members ?? [];
  const done = await tickUntil(
    'orders',
    ({ status }) => members(status).every(({ defragmentedAt = '' }) => defragmentedAt >= request),
    60,
  );
  const steps = doneIn(done.status?.history).filter(({ action }) => action === 'defragment-member');
  assert.deepEqual(steps.map(({ target }) => target).toSorted(), ['orders-0', 'orders-1']);
  assert.doesNotMatch((await ratchet('why', 'orders')).stdout, /still to come/);
});

test('where no member can be reached from, a Job of the installation makes the same plan', async () => {
  const { namespace } = stage();
  const [plugin = assert.fail('the first test installs it')] = made;
  await installNamespaced(stage());
  const args = ['plan', 'orders', '-o', 'json', '--exit-code'];
  const here = await plugin.ratchet('-n', namespace, ...args);
  const there = await plugin.ratchet(
    '-n',
    namespace,
    ...args,
    '--in-cluster',
    `--installation=${namespace}/etcd-ratchet`,
  );
  assert.deepEqual([here.code, there.code], [0, 0], here.stderr + there.stderr);
  assert.deepEqual(JSON.parse(there.stdout), JSON.parse(here.stdout));
  const checked = await plugin.ratchet(
    ...['-n', namespace, 'check', 'orders', '--in-cluster', `--installation=${namespace}/etcd-ratchet`],
  );
  assert.equal(checked.code, 0, checked.stderr);
  assert.match(checked.stdout, /orders: Ready\n/);
  const { items } = await stage().kube.list(resources.jobs, { namespace });
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name).filter((one) => one.includes('-plan-')),
    [],
    'its Jobs are removed',
  );
});
