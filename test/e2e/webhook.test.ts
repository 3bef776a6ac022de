import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from '../../functions/pass/follow-up/chain.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { callers, type Sent } from '../support/webhooks/deliveries.ts';
import { isReady } from './support/conditions.ts';
import { installNamespacedWith } from './support/installed.ts';
import { type Scene, scene } from './support/scene.ts';
import { until } from './support/until.ts';

/** The installed Deployment takes a forge's delivery; nothing else starts anything, and no minute passes. */
const stage = scene({
  host: '10.244.0.1',
  fleet: { webhook: { secretName: 'webhook' } },
  furnish: async (opened) => {
    await opened.kubectl([
      '-n',
      opened.namespace,
      'create',
      'secret',
      'generic',
      'webhook',
      '--from-literal=secret=s3cret',
    ]);
    await opened.kubectl(['-n', opened.namespace, 'label', 'secret', 'webhook', 'etcd.ratchet.dev/fleet-secret=true']);
    await installNamespacedWith('webhooks-namespaced')(opened);
    await opened.kubectl([
      '-n',
      opened.namespace,
      'rollout',
      'status',
      'deployment/etcd-ratchet-webhooks',
      '--timeout=120s',
    ]);
  },
});

/** As an Ingress would reach it. */
async function deliver({ headers, body }: Sent, fleet = 'fleet'): Promise<Response> {
  const { namespace, get } = stage();
  const service = { apiVersion: 'v1', kind: 'Service', plural: 'services' };
  const found = await get<KubeObject & { readonly spec: { readonly clusterIP: string } }>(
    service,
    'etcd-ratchet-webhooks',
  );
  return fetch(`http://${found?.spec.clusterIP}/hooks/${namespace}/${fleet}`, { method: 'POST', headers, body });
}

async function pushed({ repository }: Scene, name: string): Promise<Sent> {
  const after = await stage().pushCluster(name);
  const facts = { url: repository.url, ref: 'refs/heads/main', before: '1'.repeat(40), after };
  return callers.Gitea.send('s3cret', 'push', callers.Gitea.push(facts));
}

async function jobs(): Promise<readonly Job[]> {
  return stage().list<Job>(resources.jobs);
}

/** Follow-ups come and go by themselves. */
async function triggered(): Promise<readonly string[]> {
  const made = (await jobs()).filter(({ metadata }) => metadata.labels?.['etcd.ratchet.dev/trigger'] === 'webhook');
  return made.map(({ metadata }) => metadata.name);
}

test('a push and its delivery are enough: 202, then a Job, and three members Ready', async () => {
  const sent = await pushed(stage(), 'hooked');
  const started = performance.now();
  const response = await deliver(sent);
  assert.equal(response.status, 202, await response.clone().text());
  assert.match(await response.text(), /^accepted as Job etcd-ratchet-/);
  assert.ok(performance.now() - started < 10_000, 'within the patience of GitHub');
  let last = '';
  await until(
    'hooked is Ready',
    async () => {
      const found = await stage().get<EtcdCluster>(resources.clusters, 'hooked');
      const known = (await jobs()).map(({ metadata, status }) => `${metadata.name} ${JSON.stringify(status)}`);
      last = `${JSON.stringify(found?.status?.lastDecision)} ${known.join('; ')}`;
      return found && isReady(found);
    },
    { within: 150, every: 250, last: () => last },
  );
  const { after } = JSON.parse(sent.body) as { readonly after: string };
  const { forge } = stage();
  await until('a success', async () => forge.statusesOf(after).get('etcd-ratchet/fleet')?.state === 'success');
  console.log(`# from delivery to Ready: ${((performance.now() - started) / 1000).toFixed(1)} s`);

  assert.ok((await triggered()).length <= 1, 'one Job for the delivery, unless it has gone by now');
  const again = await deliver(sent);
  assert.equal(again.status, 202, 'a repeated delivery');
});

test('without proof it is 401, for known and unknown fleets, and no Job is made', async () => {
  const before = await triggered();
  const { headers, body } = await callers.Gitea.send('wrong', 'push', { ref: 'refs/heads/main' });
  for (const fleet of ['fleet', 'nobody']) {
    assert.equal((await deliver({ headers, body }, fleet)).status, 401);
    assert.equal((await deliver({ headers: {}, body }, fleet)).status, 401);
  }
  assert.deepEqual(
    (await triggered()).filter((name) => !before.includes(name)),
    [],
  );
  const log = await stage().kubectl(['-n', stage().namespace, 'logs', 'deployment/etcd-ratchet-webhooks']);
  assert.match(log, /deliveries without proof were refused/);
  assert.doesNotMatch(log, /s3cret|wrong|refs\/heads/);
});
