import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runTick } from '../../../functions/tick/run-tick.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import { dueBackup } from '../../../manifests/render/schedule-objects.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../../reconcile/stepping/in-parallel.ts';
import { startApiServer } from './api-server.ts';

/** What a tick at rest costs beside many backups that are done, on a real API server. */

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
const { kube, kubectl } = api;
const signal = AbortSignal.timeout(300_000);
const namespace = 'default';
const many = 120;
const path = `/apis/etcd.ratchet.dev/v1alpha1/namespaces/${namespace}/etcdbackups`;

async function tick() {
  let out = '';
  const said: string[] = [];
  const options = {
    clusters: [],
    dryRun: false,
    output: 'json',
    detailedExitcode: false,
    wait: 0,
    timeout: 60,
  } as const;
  const code = await runTick(
    { ...options, kubeconfig: api.kubeconfigPath },
    {
      version: '0.1.0',
      log: (fields, message) => said.push(`${message} ${JSON.stringify(fields)}`),
      stop: new AbortController().signal,
      env: {},
      out: (text) => {
        out += text;
      },
    },
  );
  assert.equal(code, 0, said.join('\n'));
  return { requests: JSON.parse(out).requests as Readonly<Record<string, number>>, said };
}

const raw = async (query = '') => (await kubectl(['get', '--raw', `${path}${query}`])).length;
const open = async () =>
  (await kube.list<EtcdBackup>(resources.backups, { namespace, fieldSelector: 'status.settled!=true', signal })).items;

async function makeDone(schedule: EtcdBackupSchedule, number: number): Promise<void> {
  const at = new Date(Date.UTC(2026, 0, 1, 0, number));
  const due = dueBackup(schedule, at);
  const { labels: _, ownerReferences: __, ...unowned } = due.metadata;
  // A schedule keeps a hundred at most; the others were asked for by people.
  const wanted = number < 50 ? due : { ...due, metadata: unowned };
  const made = await kube.create<EtcdBackup>(resources.backups, wanted, { signal });
  const time = at.toISOString().replace('.000Z', 'Z');
  const message = 'gs://bucket/orders/20260101T000000Z.db was restored and compared, up to revision 41';
  const ready = { type: 'Ready', status: 'True', reason: 'Verified', message, lastTransitionTime: time } as const;
  const object = `gs://bucket/${made.metadata.name}.db`;
  // As an earlier release has left it: without the mark.
  const status = { observedGeneration: 1, finishedAt: time, takenAt: time, object, revision: 41, conditions: [ready] };
  await kube.updateStatus<EtcdBackup>(resources.backups, { ...made, status }, { signal });
}

test(`beside ${many} backups that are done, a tick at rest asks for none of them`, async (t) => {
  const schedule = await kube.create<EtcdBackupSchedule>(
    resources.schedules,
    {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdBackupSchedule',
      metadata: { name: 'nightly', namespace },
      spec: {
        schedule: '0 0 1 1 *',
        history: { good: 100 },
        template: { clusterName: 'orders', to: { object: 'gs://bucket/{{cluster}}/{{timestamp}}.db' } },
      },
    },
    { signal },
  );
  await inParallel(
    Array.from({ length: many }, (_, index) => index),
    16,
    (number) => makeDone(schedule, number),
  );
  assert.equal((await open()).length, many);
  for (let ticks = 0; ticks < 8 && (await open()).length > 0; ticks++) await tick();
  assert.deepEqual(await open(), [], 'each is marked once');
  await tick();
  const { requests, said } = await tick();
  assert.ok(!said.some((line) => line.includes('all EtcdBackups are listed')), said.join('\n'));
  assert.equal(requests['LIST etcdbackups'], 1);
  assert.ok(!Object.keys(requests).some((key) => /^(PUT|POST|PATCH|DELETE)/.test(key)), JSON.stringify(requests));
  const [before, now] = [await raw(), await raw('?fieldSelector=status.settled!%3Dtrue')];
  t.diagnostic(`a tick's LIST of EtcdBackups: ${before} bytes of ${many}, and ${now} bytes of what is not settled`);
  t.diagnostic(JSON.stringify(requests));
  assert.ok(now < 1_000, `${now} bytes`);
});
