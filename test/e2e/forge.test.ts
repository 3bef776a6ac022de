import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { type Clone, clone } from '../demo/clone.ts';
import { startPeoplesForge } from '../support/forge/forge.ts';
import { isReady } from './support/conditions.ts';
import { installNamespacedWith } from './support/installed.ts';
import { type Scene, scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/**
 * A forge that we did not write, from a push to a merge: a private repository, a webhook that it signs, statuses, and
 * the plan as a comment. Nothing else starts anything.
 */
const host = '10.244.0.1';
const secret = randomBytes(16).toString('hex');
const forge = await startPeoplesForge({ host, port: 0 });
after(() => forge[Symbol.asyncDispose]());
const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-work-'));
after(() => rm(directory, { recursive: true, force: true }));

const context = 'etcd-ratchet/fleet';

const stage = scene({
  host,
  fleet: {
    git: { url: forge.gitUrl, ref: 'main', path: 'clusters', secretName: 'at-the-forge' },
    forge: { type: 'Gitea', apiURL: forge.apiUrl, secretName: 'at-the-forge' },
    webhook: { type: 'Gitea', secretName: 'webhook' },
  },
  furnish: async (opened) => {
    await share(opened, 'at-the-forge', `token=${forge.token}`);
    await share(opened, 'webhook', `secret=${secret}`);
    await installNamespacedWith('webhooks-namespaced')(opened);
    const { kubectl, namespace } = opened;
    await kubectl(['-n', namespace, 'rollout', 'status', 'deployment/etcd-ratchet-webhooks', '--timeout=120s']);
    await forge.hook(`http://${await webhookAddress(opened)}/hooks/${namespace}/fleet`, secret);
  },
});

async function share({ kubectl, namespace }: Scene, name: string, literal: string): Promise<void> {
  await kubectl(['-n', namespace, 'create', 'secret', 'generic', name, `--from-literal=${literal}`]);
  await kubectl(['-n', namespace, 'label', 'secret', name, 'etcd.ratchet.dev/fleet-secret=true']);
}

async function webhookAddress({ get }: Scene): Promise<string> {
  const service = { apiVersion: 'v1', kind: 'Service', plural: 'services' };
  const found = await get<KubeObject & { readonly spec: { readonly clusterIP: string } }>(
    service,
    'etcd-ratchet-webhooks',
  );
  return found?.spec.clusterIP ?? assert.fail('there is no Service of the webhook server');
}

async function said(sha: string, of: string): Promise<string> {
  const newest = (await forge.statusesOf(sha)).find((status) => status.context === of);
  return `${newest?.status}: ${newest?.description}`;
}

async function untilSaid(sha: string, of: string, pattern: RegExp, within: number): Promise<string> {
  let last = '';
  return until(
    `${of} of ${sha.slice(0, 7)} is like ${pattern}`,
    async () => {
      last = await said(sha, of);
      return pattern.test(last) && last;
    },
    { within, every: 300, last: () => last },
  );
}

async function ticksUntilSaid(sha: string, of: string, pattern: RegExp): Promise<string> {
  let last = '';
  const look = async () => {
    last = await said(sha, of);
    return pattern.test(last) && last;
  };
  return stage().ticksUntil(`${of} of ${sha.slice(0, 7)} is like ${pattern}`, look, { last: () => last });
}

async function untilReady(version: string): Promise<void> {
  let last = '';
  await until(
    `forged is Ready with ${version}`,
    async () => {
      const found = await stage().get<EtcdCluster>(resources.clusters, 'forged');
      last = JSON.stringify([found?.status?.version, found?.status?.lastDecision]);
      return found && isReady(found) && found.status?.members?.every((member) => member.version === version);
    },
    { within: 180, every: 300, last: () => last },
  );
}

test('a push, a request and its merge at a real forge: statuses, the plan, and what it said', async (t) => {
  t.diagnostic(`the forge is ${forge.title}`);
  const { namespace } = stage();
  const yaml = (version: string) => clusterYaml('forged', namespace, { replicas: 1, version });
  const work: Clone = await clone(forge.gitUrl, directory, forge.token);

  const first = await work.push('Add a cluster', { 'clusters/forged.yaml': yaml('3.6.16') });
  await forge.announce({ before: '0'.repeat(40), after: first });
  await untilReady('3.6.16');
  await untilSaid(first, context, /^success: /, 60);

  const head = await work.propose('upgrade', 'Upgrade', { 'clusters/forged.yaml': yaml('3.7.3') });
  const request = await forge.open('upgrade', 'Upgrade to etcd 3.7');
  const plan = await ticksUntilSaid(head, `${context}/plan`, /^success: /);
  assert.match(plan, /^success: forged: 3\.6\.16→3\.7\.3, 1 restart, \d+ steps?$/);
  const [comment = '', ...others] = await forge.commentsOf(request);
  assert.deepEqual(others, [], 'one comment');
  assert.match(comment, /forged[^\n]*3\.6\.16→3\.7\.3/);
  await stage().tick();
  assert.equal((await forge.commentsOf(request)).length, 1, 'a second look adds none');

  const merged = await forge.merge(request);
  await forge.announce({ before: first, after: merged });
  await untilReady('3.7.3');
  await untilSaid(merged, context, /^success: /, 60);
});

test('a typing error is a failure at its line, and the forge shows the words as they are', async () => {
  const { namespace } = stage();
  const work: Clone = await clone(forge.gitUrl, join(directory, 'typing'), forge.token);
  await work.pull();
  const broken = clusterYaml('forged', namespace, { replicas: 1, version: '3.7.3' }).replace('replicas', 'replicsa');
  const head = await work.propose('typing', 'Type', { 'clusters/forged.yaml': broken });
  await forge.open('typing', 'A typing error');
  const failure = await ticksUntilSaid(head, `${context}/plan`, /^failure: /);
  assert.match(failure, /^failure: clusters\/forged\.yaml:\d+:\d+: .*replicsa/);
});
