import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import type { CronJob } from '../../../functions/pass/follow-up/chain.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { install, startApiServer } from './api-server.ts';
import { jobOfServer, tried } from './server-jobs.ts';

/** Installations of one namespace each, whose policy for the webhook server an admin of the cluster applies once. */

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());

const blocksAt = typedIn('integration/manifests/webhook-jobs-namespaced');
/** The first is that of the page. */
const namespaces = ['payments', 'team-b'] as const;
const signal = AbortSignal.timeout(120_000);
const name = 'etcd-ratchet';
let count = 0;

interface Server {
  readonly namespace: string;
  readonly server: Kube;
}

async function installIn(namespace: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-'));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace,
    resources: [relative(directory, join(install, 'namespaced'))],
    components: [relative(directory, join(install, 'components/webhooks-namespaced'))],
  };
  await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization));
  await api.kubectl(['create', 'namespace', namespace]);
  await api.kubectl(['apply', '-k', directory]);
  await rm(directory, { recursive: true });
}

/** As the server makes one for a fleet; with an account, as a person would who has taken the server over. */
async function triedIn({ namespace, server }: Server, serviceAccountName?: string): Promise<string> {
  const cronJob = await server.get<CronJob>(resources.cronJobs, namespace, name, { signal });
  const job = jobOfServer(cronJob ?? assert.fail('no CronJob'), [`--fleet=${namespace}/production`, '--go-on']);
  if (serviceAccountName !== undefined) Object.assign(job.spec.template.spec, { serviceAccountName });
  return tried(server, job, signal);
}

const guard = blocksAt('docs/how-to/webhooks.md#in-one-namespace-only:1');
const letGo = blocksAt('docs/how-to/webhooks.md#in-one-namespace-only:2');

/** Types a block of the page for a namespace. */
async function type(blocks: typeof guard, namespace: string): Promise<void> {
  const text = blocks.map((one) => one.text).join('');
  for (const line of text.replaceAll('payments', namespace).trim().split('\n'))
    await api.kubectl(
      line
        .replace('manifests/install', install)
        .replace(/^kubectl /, '')
        .split(' '),
    );
}

/** A Job of the administrator. */
function made(namespace: string): Promise<string> {
  const job = ['-n', namespace, 'create', 'job', `own-${count++}`, '--image=registry.example.com/own'];
  return api.kubectl(job).then(String, String);
}

test('the commands of the page keep the webhook server of each namespace to its Jobs', async () => {
  for (const namespace of namespaces) await installIn(namespace);
  const servers = await Promise.all(
    namespaces.map(async (namespace): Promise<Server> => {
      const server = await api.kubeOf({ namespace, name: 'etcd-ratchet-webhooks' });
      return { namespace, server };
    }),
  );
  for (const one of servers) assert.equal(await triedIn(one, 'fleet'), 'made', 'without the policy nothing keeps it');

  for (const namespace of namespaces) await type(guard, namespace);

  for (const one of servers) {
    // A policy counts a moment after it was made.
    const refused = await until(`${one.namespace} is kept to its Jobs`, async () => {
      const answer = await triedIn(one, 'fleet');
      return answer !== 'made' && answer;
    });
    assert.match(refused, /^403 .*etcd-ratchet-webhook-jobs-namespaced/);
    assert.equal(await triedIn(one), 'made');
  }
});

test('without the label, or by another account, any Job can be made', async () => {
  for (const namespace of ['default', ...namespaces]) assert.match(await made(namespace), /created/);
});

test('where the CronJob is gone, the label stops every Job, and taking it away lets them be made', async () => {
  const [namespace] = namespaces;
  await api.kubectl(['-n', namespace, 'delete', 'cronjob', name]);
  const refused = await until('no Job is made without the CronJob', async () => {
    const answer = await made(namespace);
    return !answer.includes('created') && answer;
  });
  assert.match(refused, /etcd-ratchet-webhook-jobs-namespaced/);
  await type(letGo, namespace);
  await until('Jobs are made again', async () => (await made(namespace)).includes('created'));
});

test('the policy of the documents is applied a second time without a change', async () => {
  const again = await api.kubectl(['apply', '-k', join(install, 'webhooks-access/namespaced')]);
  for (const line of again.trim().split('\n')) assert.match(line, / unchanged$/);
});
