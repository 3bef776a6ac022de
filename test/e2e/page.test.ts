import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isConverged } from './support/conditions.ts';
import { installNamespacedWith } from './support/installed.ts';
import { scene } from './support/scene.ts';
import { startServer } from './support/serve.ts';
import { clusterYaml } from './support/specs.ts';

// Ticks are processes of their own, and have our environment.
process.env.RATCHET_PAGE_URL = 'https://ops.example.com/etcd/';

const stage = scene();

/** The path below the page's address that the commit's status of this context leads to. */
function ledTo(sha: string, context: string): string {
  const { forge } = stage();
  const { target_url: target = '' } = forge.statusesOf(sha).get(context) ?? assert.fail(`no status ${context}`);
  const [, path] = /^https:\/\/ops\.example\.com\/etcd(\/.+)$/.exec(target) ?? [];
  return path ?? assert.fail(`${context} leads to ${target}`);
}

test('statuses lead to the page, which shows what is live, planned and requested', async () => {
  const { push, tickUntil, ticksUntil, namespace, repository, forge } = stage();
  const yaml = (replicas: number) => clusterYaml('orders', namespace, { replicas });
  const sha = await push({ 'clusters/orders.yaml': yaml(1) });
  const live = await tickUntil('orders', isConverged);
  await ticksUntil('a success', () => forge.statusesOf(sha).get('etcd-ratchet/fleet')?.state === 'success');

  await repository.git('branch', 'request-7', 'main');
  const headSha = await repository.commit(
    { 'clusters/orders.yaml': yaml(3) },
    { branch: 'request-7', keep: true, message: 'Grow' },
  );
  forge.pulls.unshift({ number: 7, title: 'Grow <b>orders</b>', headSha });
  await ticksUntil('its plan', () => forge.statusesOf(headSha).get('etcd-ratchet/fleet/plan')?.state === 'success');

  await using server = await startServer({ RATCHET_PAGE: 'Enabled', RATCHET_NAMESPACE: namespace });
  const see = async (path: string) => {
    const answer = await fetch(`${server.url}${path}`);
    assert.equal(answer.status, 200, `${path}: ${server.log()}`);
    return answer.text();
  };

  const home = await see('/');
  for (const text of [`${namespace}/fleet`, `${namespace}/orders`, '1/1', sha.slice(0, 10)]) {
    assert.ok(home.includes(text), text);
  }
  assert.match(await see(ledTo(sha, 'etcd-ratchet/fleet')), /every cluster is ready/);

  const cluster = await see(ledTo(sha, `etcd-ratchet/fleet/${namespace}/orders`));
  for (const text of [live.status?.clusterID ?? '-', 'orders-0', 'Voter', '>leads<', 'in use', 'QuorumServes']) {
    assert.ok(cluster.includes(text), text);
  }
  // Planned just now, with the certificate that etcd asks for: there is nothing to do.
  assert.match(cluster, /no steps.*Nothing to do: <strong>Converged/s);

  const check = await see(ledTo(headSha, 'etcd-ratchet/fleet/plan'));
  assert.match(check, /\+2 members/);
  assert.match(check, /Grow &lt;b&gt;orders&lt;\/b&gt;/);

  assert.doesNotMatch(`${home}${cluster}${check}${server.log()}`, /BEGIN|forge-token|PRIVATE KEY/);
  assert.equal((await fetch(`${server.url}/`, { headers: { 'x-forwarded-for': '10.0.0.1' } })).status, 421);
  assert.equal(await server.stop(), 0);
});

test('as it is installed, its own container gets there, and no other pod does', async () => {
  const { kubectl, namespace, list } = stage();
  await installNamespacedWith('page-namespaced')(stage());
  // Its startup probe asks from inside.
  await kubectl(['-n', namespace, 'rollout', 'status', 'deployment/etcd-ratchet-page', '--timeout=120s']);
  const pods = await list<Pod>(resources.pods);
  const page = pods.find(({ metadata }) => metadata.name.startsWith('etcd-ratchet-page-')) ?? assert.fail('no pod');
  assert.equal(page.status?.containerStatuses?.[0]?.restartCount, 0);
  await assert.rejects(
    fetch(`http://${page.status?.podIP}:8080/`, { signal: AbortSignal.timeout(10_000) }),
    ({ cause }: Error) => (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED',
  );
  const log = await kubectl(['-n', namespace, 'logs', 'deployment/etcd-ratchet-page']);
  assert.match(log, /listening/);
});
