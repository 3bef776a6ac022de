import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { type Broker, startBroker } from '../support/events/broker.ts';
import { ourBroker } from '../support/events/our-broker.ts';
import { isReady } from './support/conditions.ts';
import { installNamespaced } from './support/installed.ts';
import { scene } from './support/scene.ts';
import { type Server, startServer } from './support/serve.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/**
 * Knative's part is played by test/support/events; the server is the bundle's. No tick, no Job: what happens, happens
 * by events.
 */
const parts = new AsyncDisposableStack();
let server: Server;
let broker: Broker;
const stage = scene({
  furnish: async (opened) => {
    await installNamespaced(opened);
    const { kube, namespace } = opened;
    const target = () => `${server.url}/events`;
    broker = parts.use(await startBroker({ kube, namespace, target, annotations: ourBroker() }));
    server = parts.use(
      await startServer({
        RATCHET_EVENTS: 'Enabled',
        RATCHET_NAMESPACE: namespace,
        POD_NAMESPACE: namespace,
        CRONJOB_NAME: 'etcd-ratchet',
        K_SINK: broker.sink,
        K_CE_OVERRIDES: '{"extensions": {"team": "platform"}}',
      }),
    );
  },
});
after(() => parts.disposeAsync());

async function ready(name: string, replicas: number): Promise<EtcdCluster> {
  let last = '';
  return until(
    `${name} Ready with ${replicas}`,
    async () => {
      const found = await stage().get<EtcdCluster>(resources.clusters, name);
      last = `${JSON.stringify(found?.status)} ${server.log().slice(-4000)}`;
      return found && isReady(found) && found.status?.readyReplicas === replicas ? found : undefined;
    },
    { within: 180, last: () => last },
  );
}

test('a push and one clock event make three members Ready: all else comes by events', async () => {
  const { push, namespace, forge } = stage();
  const sha = await push({ 'clusters/evented.yaml': clusterYaml('evented', namespace) });
  const started = performance.now();
  broker.ping();
  await ready('evented', 3);
  console.log(`# from the event to Ready: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  await until('a success', async () => forge.statusesOf(sha).get('etcd-ratchet/fleet')?.state === 'success');
  assert.deepEqual(await stage().list(resources.jobs), []);
  const others = broker.deliveries.filter(({ type }) => !type.includes('ping'));
  assert.ok(others.length > 0, 'more than the clock was heard');
});

test('a change by hand needs no clock: its event steps that cluster, and no other', async () => {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml('byhand', namespace, { replicas: 1 }) });
  await ready('byhand', 1);
  await kubectl(['-n', namespace, 'patch', 'etcdcluster', 'byhand', '--type=merge', '-p', '{"spec":{"replicas":3}}']);
  await ready('byhand', 3);
  assert.ok(broker.deliveries.some(({ type }) => type === 'dev.ratchet.etcd.follow-up'));
  assert.deepEqual(await stage().list(resources.jobs), []);
});

test('answers suit a Broker: no bodies, and no failures that it would retry for ever', async () => {
  assert.ok(broker.deliveries.length > 20);
  const wrong = broker.deliveries.filter(({ status, body }) => status !== 204 || body !== '');
  assert.deepEqual(wrong, []);
});

test('when all has converged, events of our own writes cause no pass', async () => {
  const { get, kube } = stage();
  // A pass takes as long as it takes: its event counts as delivered when it is over, and then brings others.
  await until('no event is under way', async () => {
    const count = broker.deliveries.length;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return broker.underWay === 0 && broker.deliveries.length === count;
  });
  const steps = () => server.log().split('"decision"').length;
  const before = { steps: steps(), deliveries: broker.deliveries.length };
  const cluster = await get<EtcdCluster>(resources.clusters, 'evented');
  assert.ok(cluster?.status);
  const status = { ...cluster.status, phase: undefined, version: '3.6.0' };
  await kube.updateStatus(resources.clusters, { ...cluster, status });
  await until('the event of it', async () => broker.deliveries.length > before.deliveries);
  assert.equal(broker.deliveries.at(-1)?.status, 204);
  assert.equal(steps(), before.steps, server.log().slice(-2000));
});

test('asked to leave, the server finishes and exits with 0', async () => {
  assert.equal(await server.stop(), 0);
  assert.match(server.log(), /leaving: what is under way is finished first/);
});
