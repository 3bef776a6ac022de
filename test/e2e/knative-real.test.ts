import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { followUpType } from '../../functions/pass/follow-up/sink.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { connectKube } from '../../reconcile/clients/kube.ts';
import { type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';
import { fleetObjects, install } from '../demo/install.ts';
import { tools } from '../support/cluster/tools.ts';
import { startForge } from '../support/git/forge.ts';
import { startGitServer } from '../support/git/server.ts';
import { type Gateway, startGateway } from '../support/knative/gateway.ts';
import { installKnative } from '../support/knative/install.ts';
import { callers } from '../support/webhooks/deliveries.ts';
import { isReady } from './support/conditions.ts';
import { allGone, allReady, brokenAdmission, ofKnative, posted, scaledToZero } from './support/on-knative.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

/**
 * With Knative's own programs and manifests, and ours unchanged. Only what serves its Ingresses is a stand-in: without
 * TLS. On a cluster of its own, and one story: its tests need what the ones before them left.
 */
const knative = await tools.knative.provide();
const binaries = await inOwnSandbox();
const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());
const cluster = parts.use(await startOwnCluster({ binaries, programs: knative.programs }));
const { kubectl } = cluster;
const node = cluster.node ?? assert.fail('the cluster has no nodes');
const kube = await connectKube({ userAgent: 'e2e/0', kubeconfig: cluster.kubeconfigPath });
parts.defer(() => kube.close());

const home = 'etcd-ratchet';
const theirs = 'payments';
/** Where pods find what runs beside the cluster. */
const host = '10.244.0.1';
const git = parts.use(await startGitServer({ host }));
const forge = parts.use(await startForge({ host }));
const repository = await git.createRepository('platform/etcd');
let gateway: Gateway;
/** How long the sender of a follow-up waits for an answer. */
const patienceMs = 5_000;

const at = (namespace: string, ...args: readonly string[]) => kubectl(['-n', namespace, ...args]);
const applyObject = (object: object) => kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(object) });
const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1);
const jobs = async () => (await kube.list<KubeObject>(resources.jobs, { namespace: home })).items;
const logOf = (what: string) =>
  at(home, 'logs', '-l', `serving.knative.dev/service=etcd-ratchet-${what}`, '-c', what, '--tail=20');
/** Its SinkBinding is not Ready before there is one. */
const ofJobs = 'SinkBinding/etcd-ratchet-jobs';

function apply(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, theirs, fields) });
}

async function ready(name: string, replicas: number): Promise<void> {
  let last = '';
  const look = async () => {
    const found = await kube.get<EtcdCluster>(resources.clusters, theirs, name);
    last = JSON.stringify(found?.status?.lastDecision);
    return found && isReady(found) && found.status?.readyReplicas === replicas;
  };
  await until(`${name} Ready with ${replicas}`, look, { within: 120, every: 250, last: () => last });
}

test('manifests/knative becomes Ready, unchanged', { timeout: 300_000 }, async (t) => {
  const began = performance.now();
  await installKnative(kubectl, knative);
  gateway = parts.use(await startGateway({ kube, host, namespace: 'knative-serving' }));
  t.diagnostic(`Knative runs after ${seconds(began)} s`);
  await install(kubectl);
  await kubectl(['apply', '-f', '-'], {
    stdin: fleetObjects({ gitUrl: repository.url, apiUrl: `${forge.url}/api/v1`, token: 'secret' }),
  });
  // A day that no year has: all that happens, happens by events.
  await at(home, 'patch', 'cronjob', 'etcd-ratchet', '-p', '{"spec":{"schedule":"0 0 31 2 *"}}');
  const applied = performance.now();
  await kubectl(['apply', '-k', ofKnative]);
  await allReady(kubectl, 120, ofJobs);
  t.diagnostic(`manifests/knative is Ready after ${seconds(applied)} s`);
});

test("the source tells nothing of what was there before it: that is the clock's", { timeout: 300_000 }, async (t) => {
  await apply('early', { replicas: 1 });
  await apply('suspended', { suspend: true });
  await kubectl(['label', 'namespace', theirs, 'etcd.ratchet.dev/events=true']);
  let touched = 0;
  const isTold = (name: string) => gateway.passed.some(({ subject }) => subject?.endsWith(`/etcdclusters/${name}`));
  await until('the source watches the namespace', async () => {
    await at(theirs, 'annotate', '--overwrite', 'etcdclusters.etcd.ratchet.dev', 'suspended', `touched=${touched++}`);
    return isTold('suspended');
  });
  await allReady(kubectl, 60, ofJobs);
  assert.ok(!isTold('early'));
  const schedule = (when: string) =>
    at(home, 'patch', 'pingsource', 'etcd-ratchet', '--type=merge', '-p', JSON.stringify({ spec: { schedule: when } }));
  await schedule('* * * * *');
  const began = performance.now();
  await ready('early', 1);
  t.diagnostic(`found by the clock after ${seconds(began)} s`);
  await schedule('*/5 * * * *');
});

test('a birth needs events alone: its follow-ups are no Jobs', { timeout: 200_000 }, async (t) => {
  const began = performance.now();
  await apply('warm');
  await ready('warm', 3);
  t.diagnostic(`a birth takes ${seconds(began)} s`);
  assert.ok(gateway.passed.some(({ type }) => type === followUpType));
  assert.deepEqual(await jobs(), []);
});

test('the Service scales to zero, and a change wakes it', { timeout: 400_000 }, async (t) => {
  const quiet = performance.now();
  await scaledToZero(kube, 'etcd-ratchet-events');
  t.diagnostic(`without a pod after ${seconds(quiet)} s`);
  const began = performance.now();
  await apply('cold');
  await ready('cold', 3);
  t.diagnostic(`a birth from zero takes ${seconds(began)} s`);
  assert.deepEqual(await jobs(), []);
});

test('a step that takes longer than its sender waits is not cut off', { timeout: 200_000 }, async (t) => {
  const began = performance.now();
  const followUps = () => gateway.passed.filter(({ type }) => type === followUpType);
  const isSlow = ({ since, end }: Gateway['passed'][number]) =>
    since > began && end === undefined && performance.now() - since > patienceMs + 1_000;
  // No node has this one yet.
  await node.pauseImagePulls(true);
  try {
    await apply('slow', { version: '3.5.35' });
    await until('a follow-up takes longer than its sender waits', () => followUps().some(isSlow));
  } finally {
    await node.pauseImagePulls(false);
  }
  await ready('slow', 3);
  const isOver = () => followUps().every(({ end }) => end !== undefined);
  await until('no follow-up is under way', isOver);
  t.diagnostic(`answers to follow-ups: ${followUps().map(({ end }) => end)}`);
  assert.ok(followUps().every(({ end }) => end === 204));
  assert.deepEqual(await jobs(), []);
});

test('the Broker sends a step that failed again, and then it is taken', { timeout: 200_000 }, async (t) => {
  const began = performance.now();
  await applyObject(brokenAdmission(theirs));
  await apply('failing', { replicas: 1 });
  const id = await until('one event has failed twice', () => {
    const failed = gateway.passed.filter(({ since, end }) => since > began && end === 503).map((one) => one.id);
    return failed.find((one, index) => failed.indexOf(one) < index);
  });
  await kubectl(['delete', 'validatingwebhookconfiguration', 'broken']);
  await ready('failing', 1);
  const attempts = () => gateway.passed.filter((one) => one.id === id).map(({ end }) => end);
  await until('that event is taken', () => attempts().at(-1) === 204);
  t.diagnostic(`answers to that event: ${attempts()}`);
  assert.deepEqual(await jobs(), []);
});

test('a signed webhook makes a Job; the events are not public', { timeout: 300_000 }, async (t) => {
  const domain = 'knative.example.org';
  const data = JSON.stringify({ data: { [domain]: '' } });
  await at('knative-serving', 'patch', 'configmap', 'config-domain', '--type=merge', '-p', data);
  const change = '{"spec":{"webhook":{"secretName":"webhook"}}}';
  await at(home, 'patch', 'etcdfleets.etcd.ratchet.dev', 'production', '--type=merge', '-p', change);
  await at(home, 'create', 'secret', 'generic', 'webhook', '--from-literal=secret=s3cret');
  await at(home, 'label', 'secret', 'webhook', 'etcd.ratchet.dev/fleet-secret=true');
  const url = `${gateway.publicUrl}/hooks/${home}/production`;
  const hooks = { url, host: `etcd-ratchet-webhooks.${home}.${domain}` };
  await until('the webhooks are served at their address', async () => (await posted(hooks)).status === 401);

  await scaledToZero(kube, 'etcd-ratchet-webhooks');
  const after = await repository.commit({
    'clusters/prod/hooked.yaml': clusterYaml('hooked', theirs, { replicas: 1 }),
  });
  const facts = { url: repository.url, ref: 'refs/heads/main', before: '1'.repeat(40), after };
  const sent = await callers.Gitea.send('s3cret', 'push', callers.Gitea.push(facts));
  const began = performance.now();
  const answer = await posted({ ...hooks, ...sent });
  t.diagnostic(`answered from zero in ${seconds(began)} s: ${answer.text.trim()}`);
  assert.equal(answer.status, 202, await logOf('webhooks'));
  for (const suffix of [domain, 'svc.cluster.local']) {
    const events = { url: `${gateway.publicUrl}/events`, host: `etcd-ratchet-events.${home}.${suffix}` };
    assert.equal((await posted(events)).status, 404, events.host);
  }
  await ready('hooked', 1);
  const told = () => forge.statusesOf(after).get('etcd-ratchet/production');
  const last = () => JSON.stringify(told());
  await until('a success', () => told()?.state === 'success', { last });
  await at(home, 'create', 'job', '--from=cronjob/etcd-ratchet', 'by-hand');
  const variables = 'jsonpath={.spec.template.spec.containers[*].env[*].name}';
  assert.match(await at(home, 'get', 'job', 'by-hand', '-o', variables), /\bK_SINK\b/);
  await allReady(kubectl, 60);
});

test('deleted, nothing of manifests/knative stays, and Jobs go on as before', { timeout: 400_000 }, async () => {
  await kubectl(['delete', '-k', ofKnative, '--timeout=120s'], { timeoutMilliseconds: 150_000 });
  await allGone(kubectl);
  await apply('afterwards', { replicas: 1 });
  await at(home, 'create', 'job', '--from=cronjob/etcd-ratchet', 'without-events');
  await ready('afterwards', 1);
});
