import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { type CronJob, jobOf } from '../../../functions/pass/follow-up/chain.ts';
import { type Kube, KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { install, startApiServer } from './api-server.ts';

/** Installations of one namespace each, whose policy for the webhook server an admin of the cluster applies once. */

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());

const root = join(install, '../..');
const namespaces = ['team-a', 'team-b'] as const;
const signal = AbortSignal.timeout(120_000);
const name = 'etcd-ratchet';
let made = 0;

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
async function tried(server: Kube, namespace: string, serviceAccountName?: string): Promise<string> {
  const cronJob = await server.get<CronJob>(resources.cronJobs, namespace, name, { signal });
  const args = [`--fleet=${namespace}/production`, '--go-on'];
  const labels = { 'etcd.ratchet.dev/trigger': 'webhook', 'etcd.ratchet.dev/fleet': 'uid' };
  const job = structuredClone(jobOf(cronJob ?? assert.fail('no CronJob'), { suffix: `t-${made++}`, labels, args }));
  const { template } = job.spec as { readonly template: { readonly spec: object } };
  if (serviceAccountName !== undefined) Object.assign(template.spec, { serviceAccountName });
  try {
    await server.create(resources.jobs, job, { signal });
    return 'made';
  } catch (error) {
    assert.ok(error instanceof KubeError, String(error));
    return `${error.status} ${error.message}`;
  }
}

test('the command of the documents keeps the webhook server of every namespace to its Jobs', async () => {
  for (const namespace of namespaces) await installIn(namespace);
  const servers = await Promise.all(
    namespaces.map(async (namespace) => {
      const server = await api.kubeOf({ namespace, name: 'etcd-ratchet-webhooks' });
      return { namespace, server };
    }),
  );
  for (const { namespace, server } of servers)
    assert.equal(await tried(server, namespace, 'fleet'), 'made', 'without the policy nothing keeps it');

  const page = await readFile(join(root, 'docs/how-to/webhooks.md'), 'utf8');
  const [, file] = /`kubectl apply -f (\S+\.yaml)`/.exec(page) ?? assert.fail('no command');
  await api.kubectl(['apply', '-f', join(root, file ?? '')]);

  for (const { namespace, server } of servers) {
    // A policy counts a moment after it was made.
    const refused = await until(`${namespace} is kept to its Jobs`, async () => {
      const answer = await tried(server, namespace, 'fleet');
      return answer !== 'made' && answer;
    });
    assert.match(refused, /^403 .*etcd-ratchet-webhook-jobs/);
    assert.equal(await tried(server, namespace), 'made');
  }
});

test('the policy of the documents is applied a second time without a change', async () => {
  const again = await api.kubectl(['apply', '-f', join(install, 'webhooks-access/jobs.yaml')]);
  for (const line of again.trim().split('\n')) assert.match(line, / unchanged$/);
});
