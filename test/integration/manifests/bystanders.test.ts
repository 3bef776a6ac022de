import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import type { CronJob } from '../../../functions/pass/follow-up/chain.ts';
import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { Component } from '../../../manifests/helm/chart.ts';
import { takeJob } from '../../../manifests/render/backup-jobs.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { helmFor } from '../../support/cluster/helm.ts';
import { tools } from '../../support/cluster/tools.ts';
import { backup as plain } from '../../unit/manifests/api-documents.ts';
import { installKnativeKinds } from '../docs/knative-kinds.ts';
import { allComponents, inOneNamespace, monitoringKinds, partsFor } from './all-components.ts';
import { startApiServer } from './api-server.ts';
import { jobOfServer, tried } from './server-jobs.ts';

/** What other people make beside all that we install, and our own accounts, which make only what is theirs. */

const manifests = resolve(import.meta.dirname, '../../../manifests');
// Before the sandbox, which reaches no network.
await tools.helm.provide();
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
const home = await mkdtemp(join(tmpdir(), 'bystanders-'));
after(() => rm(home, { recursive: true }));
const helm = helmFor(await tools.helm.provide(), home);
const signal = AbortSignal.timeout(300_000);

const others = 'payments';
const someone = ['--as=system:serviceaccount:payments:ci', '-n', others];
await api.kubectl(['create', 'namespace', others]);
await api.kubectl(['-n', others, 'create', 'rolebinding', 'ci', '--clusterrole=edit', '--serviceaccount=payments:ci']);
await api.kubectl(['apply', '-f', '-'], {
  stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: monitoringKinds }),
});
await installKnativeKinds(api.kubectl, { kustomize: '', knative: { missing: 'other tests judge the fields' } });

async function kustomized(namespace: string, on: readonly Component[], more: readonly string[] = []): Promise<string> {
  const directory = await mkdtemp(join(home, 'own-'));
  const content = partsFor(directory, on, more);
  // As a person writes it: whoever installs into the usual namespace names none.
  const whole = namespace === 'etcd-ratchet' ? content : { ...content, namespace };
  await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(whole));
  return api.kubectl(['kustomize', directory]);
}

async function charted(namespace: string): Promise<string> {
  const sets = allComponents.flatMap((name) => ['--set', `components.${name}.enabled=true`]);
  const how = ['--namespace', namespace, '--skip-tests', '--set', 'namespace.create=true'];
  return helm(['template', 'x', join(manifests, 'helm/etcd-ratchet'), ...how, ...sets]);
}

/** Each takes the cluster-wide objects over from the one before. */
const installations: readonly (readonly [how: string, namespace: string, rendered: () => Promise<string>])[] = [
  ['all components by kustomize', 'etcd-ratchet', () => kustomized('etcd-ratchet', allComponents)],
  ['all by kustomize in another namespace', 'moved', () => kustomized('moved', inOneNamespace)],
  ['all components by the chart, in another namespace', '007', () => charted('007')],
  ['Knative', 'etcd-ratchet', () => kustomized('etcd-ratchet', [], ['knative'])],
  ['Knative in another namespace', 'events', () => kustomized('events', [], ['knative'])],
];

for (const [how, namespace, rendered] of installations) {
  test(`with ${how}, the policies stop our own accounts only`, async () => {
    await api.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { stdin: await rendered() });
    await keptInItsPlace(namespace);
    await bystandersGoOn();
    // As the CI of a forge does, and our own account for a backup.
    const look = ['create', 'job', '--from=cronjob/etcd-ratchet', `look-${nextNumber()}`];
    await api.kubectl(['-n', namespace, ...look]);
    const us = `--as=system:serviceaccount:${namespace}:etcd-ratchet`;
    const taken = takeJob(backup(`backup-${nextNumber()}`), {
      ...{ image: 'example.com/a', attempt: 1, endpoints: ['https://10.0.0.1:2379'] },
      location: { scheme: 's3', bucket: 'backups', path: 'a.db' },
    });
    await api.kubectl([us, 'create', '-f', '-'], { stdin: JSON.stringify(taken) });
    const bare = ['-n', others, 'create', 'job', `bare-${nextNumber()}`, '--image=example.com/a'];
    await until('our own account makes no other Job', async () =>
      /etcd-ratchet-own-pods/.test(await api.kubectl([us, ...bare, '--dry-run=server']).then(String, String)),
    );
  });
}

test("another project's CronJob goes on making Jobs, and these get their pods", async () => {
  const made = ['-n', others, 'get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}'];
  await until('the pod of a Job that the CronJob made', async () => /nightly-\d+-/.test(await api.kubectl(made)), {
    within: 90,
    every: 1000,
  });
});

async function keptInItsPlace(namespace: string): Promise<void> {
  const server = await api.kubeOf({ namespace, name: 'etcd-ratchet-webhooks' });
  const cronJob = await server.get<CronJob>(resources.cronJobs, namespace, 'etcd-ratchet', { signal });
  const job = () => jobOfServer(cronJob ?? assert.fail('no CronJob'), ['--fleet=etcd-ratchet/production', '--go-on']);
  // A policy counts a moment after it was made.
  const refused = await until('another Job is refused', async () => {
    const wanted = job();
    wanted.spec.template.spec.terminationGracePeriodSeconds = 7;
    const answer = await tried(server, wanted, signal);
    return answer !== 'made' && answer;
  });
  assert.match(refused, /^403 .*etcd-ratchet-webhook-jobs/);
  assert.equal(await tried(server, job(), signal), 'made');
}

let number = 0;
const nextNumber = () => number++;

/** What a project that has never heard of us does all day. */
async function bystandersGoOn(): Promise<void> {
  const image = '--image=registry.example.com/nightly';
  const name = `own-${nextNumber()}`;
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { generateName: 'own-' }, spec: jobSpec() };
  await api.kubectl([...someone, 'create', '-f', '-'], { stdin: JSON.stringify(job) });
  await api.kubectl([...someone, 'create', 'job', name, image, '--dry-run=server']);
  await api.kubectl([...someone, 'create', 'job', name, image]);
  await api.kubectl([...someone, 'annotate', 'job', name, 'example.com/a=b']);
  await api.kubectl([...someone, 'patch', 'job', name, '-p', '{"spec":{"suspend":true}}']);
  await api.kubectl([...someone, 'delete', 'job', name]);
  const cronJob = ['create', 'cronjob', 'nightly', image, '--schedule=* * * * *', '--dry-run=client', '-o', 'yaml'];
  await api.kubectl([...someone, 'apply', '-f', '-'], { stdin: await api.kubectl([...someone, ...cronJob]) });
  await api.kubectl([...someone, 'create', 'job', `by-hand-${nextNumber()}`, '--from=cronjob/nightly']);
  await api.kubectl([...someone, 'run', `pod-${nextNumber()}`, image]);
  const database = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'database' }, spec: setSpec() };
  await api.kubectl([...someone, 'apply', '-f', '-'], { stdin: JSON.stringify(database) });
  await api.kubectl([...someone, 'scale', 'statefulset', 'database', `--replicas=${nextNumber() % 3}`]);
  await api.kubectl([...someone, 'create', 'secret', 'generic', `secret-${nextNumber()}`]);
  await api.kubectl([...someone, 'create', 'configmap', `map-${nextNumber()}`]);
  await api.kubectl([
    ...someone,
    'create',
    'service',
    'externalname',
    `s-${nextNumber()}`,
    '--external-name=a.example',
  ]);
  await api.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(node(`node-${nextNumber()}`)) });
  await api.kubectl(['label', 'nodes', '--all', 'example.com/pool=a', '--overwrite']);
}

function jobSpec(): object {
  return { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'example.com/a' }] } } };
}

/** As people have them: an agent on each node sees its host. */
function setSpec(): object {
  const volumes = [{ name: 'host', hostPath: { path: '/var/log' } }];
  const spec = { hostNetwork: true, containers: [{ name: 'a', image: 'example.com/a' }], volumes };
  const labels = { app: 'database' };
  return { serviceName: 'database', selector: { matchLabels: labels }, template: { metadata: { labels }, spec } };
}

function backup(name: string): EtcdBackup {
  return { ...plain, metadata: { ...plain.metadata, name, namespace: others, uid: name } };
}

function node(name: string): object {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } };
}
