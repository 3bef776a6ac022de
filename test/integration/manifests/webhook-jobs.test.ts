import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { CronJob } from '../../../functions/pass/follow-up/chain.ts';
import { handOver } from '../../../functions/serve/hand-over.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { fleet } from '../../unit/serve/installation.ts';
import { install, startApiServer } from './api-server.ts';
import { type Fields, jobOfServer, tried, type Whole } from './server-jobs.ts';

/** What someone may do who has taken the webhook server over: look now, and nothing else. */

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
await api.kubectl(['apply', '-k', join(install, 'webhooks-access')]);
// That of all our accounts refuses some of these as well: here the one of the webhook server stands alone.
await api.kubectl(['delete', '-k', join(install, 'own-account')]);

const namespace = 'etcd-ratchet';
const name = 'etcd-ratchet';
const signal = AbortSignal.timeout(120_000);
const server = await api.kubeOf({ namespace, name: 'etcd-ratchet-webhooks' });
const cronJob =
  (await server.get<CronJob>(resources.cronJobs, namespace, name, { signal })) ?? assert.fail('no CronJob');

const job = (args: readonly string[] = ['--fleet=etcd-ratchet/production', '--go-on']) => jobOfServer(cronJob, args);
const answerTo = (kube: Kube, wanted: Whole) => tried(kube, wanted, signal);

/** A policy counts a moment after it was made, and after it was deleted. */
test('until the policy counts', async () => {
  await until('a Job of another account is refused', async () => {
    const wanted = job();
    wanted.spec.template.spec.serviceAccountName = 'fleet';
    return /^403 .*etcd-ratchet-webhook-jobs/.test(await answerTo(server, wanted));
  });
});

const pod = (change: (spec: Whole['spec']['template']['spec']) => void) => () => {
  const wanted = job();
  change(wanted.spec.template.spec);
  return wanted;
};
const container = (fields: Fields) => pod(({ containers }) => Object.assign(containers[0] ?? {}, fields));
const whole = (change: (wanted: Whole) => void) => () => {
  const wanted = job();
  change(wanted);
  return wanted;
};
/** Which the Job controller does not give. */
const podLabels = job().spec.template.metadata.labels as Fields;
const ofPod = (fields: Fields) => whole(({ spec }) => Object.assign(spec.template.metadata, fields));
const first = job().spec.template.spec.containers[0] ?? {};

const hostile: Readonly<Record<string, () => Whole>> = {
  'another service account': pod((spec) =>
    Object.assign(spec, { serviceAccountName: 'fleet', serviceAccount: 'fleet' }),
  ),
  'another image': container({ image: 'registry.example.com/own' }),
  'another program': container({ command: ['node', '-e', 'x'] }),
  'a variable more': container({
    env: [...((first.env as Fields[]) ?? []), { name: 'NODE_OPTIONS', value: '--import=data:text/javascript,x' }],
  }),
  'the sink that a SinkBinding writes into what it selects': container({
    env: [...((first.env as Fields[]) ?? []), { name: 'K_SINK', value: 'http://broker.example.org/' }],
  }),
  'no variables': container({ env: [] }),
  'variables of another Secret': container({ envFrom: [{ secretRef: { name: 'git-credentials' } }] }),
  'rights of its own': container({ securityContext: { runAsUser: 0, runAsNonRoot: false } }),
  'a mount': pod((spec) => {
    spec.volumes = [{ name: 'v', secret: { secretName: 'git-credentials' } }];
    Object.assign(spec.containers[0] ?? {}, { volumeMounts: [{ name: 'v', mountPath: '/v' }] });
  }),
  'a volume more': pod((spec) =>
    Object.assign(spec, {
      volumes: [...((spec.volumes as Fields[]) ?? []), { name: 'v', secret: { secretName: 'webhook' } }],
    }),
  ),
  'a container more': pod((spec) => spec.containers.push({ name: 'b', image: 'i' })),
  'a container before': pod((spec) => Object.assign(spec, { initContainers: [{ name: 'b', image: 'i' }] })),
  'the network of its node': pod((spec) => Object.assign(spec, { hostNetwork: true })),
  'the processes of its node': pod((spec) => Object.assign(spec, { hostPID: true })),
  'a node': pod((spec) => Object.assign(spec, { nodeName: 'n' })),
  'a class of priority': pod((spec) => Object.assign(spec, { priorityClassName: 'system-node-critical' })),
  'less than the CronJob says': pod((spec) => delete spec.securityContext),
  'a dry run that prints': () => job(['--fleet=a/b', '--plan']),
  'another fleet, and more': () => job(['--fleet=a/b', '--go-on', '--delay=12', '--kubeconfig=/x']),
  'a fleet that is no name': () => job(['--fleet=a/b --cluster=c/d']),
  'two lines': () => job(['--fleet=a/b\n--plan']),
  'a delay of hours': () => job(['--fleet=a/b', '--delay=9999']),
  'too many arguments': () => job(Array.from({ length: 9 }, () => '--go-on')),
  'many pods': whole(({ spec }) => Object.assign(spec, { parallelism: 50, completions: 50 })),
  'the label of a follow-up': whole(({ metadata }) =>
    Object.assign(metadata, { labels: { 'etcd.ratchet.dev/follow-up': 'true', 'etcd.ratchet.dev/chain': 'x' } }),
  ),
  'an annotation that another controller acts on': whole(({ metadata }) =>
    Object.assign(metadata, { annotations: { 'example.com/queue': 'x' } }),
  ),
  'an annotation of its pod, which asks an injector for a container': ofPod({
    annotations: { 'sidecar.istio.io/inject': 'true', 'sidecar.istio.io/proxyImage': 'registry.example.com/own' },
  }),
  'a label of its pod': ofPod({ labels: { ...podLabels, 'sidecar.istio.io/inject': 'true' } }),
  'a label of its pod changed': ofPod({ labels: { 'app.kubernetes.io/name': 'other' } }),
  'no labels of its pod': ofPod({ labels: {} }),
  'suspension for ever': whole(({ spec }) => Object.assign(spec, { suspend: true })),
  'no time to go': whole(({ spec }) => delete spec.ttlSecondsAfterFinished),
  'no deadline': whole(({ spec }) => delete spec.activeDeadlineSeconds),
  'a deadline of days': whole(({ spec }) => Object.assign(spec, { activeDeadlineSeconds: 200_000 })),
  'another controller': whole(({ spec }) => Object.assign(spec, { managedBy: 'example.com/queue' })),
  'a finalizer': whole(({ metadata }) => Object.assign(metadata, { finalizers: ['example.com/stay'] })),
  'the CronJob as its controller, as a tick has it': whole(({ metadata }) => {
    const [owner] = metadata.ownerReferences as Fields[];
    metadata.ownerReferences = [{ ...owner, controller: true }];
  }),
};

for (const [what, wanted] of Object.entries(hostile)) {
  test(`the webhook server can not make a Job with ${what}`, async () => {
    const answer = await answerTo(server, wanted());
    assert.match(answer, /^403 .*etcd-ratchet-webhook-jobs/);
  });
}

test('the webhook server makes the Jobs that it makes, at once and late', async () => {
  const kube = { ...server, now: () => new Date() } as Kube;
  const deliveries = ['a', 'b', 'c'].map((text) => ({
    fleet: fleet('production'),
    body: Buffer.from(text),
    reason: 'push',
  }));
  for (const delivered of deliveries)
    assert.equal((await handOver(delivered, { kube, cronJob: { namespace, name }, signal })).kind, 'accepted');
  const { items } = await server.list(resources.jobs, {
    namespace,
    labelSelector: 'etcd.ratchet.dev/trigger=webhook',
    signal,
  });
  assert.ok(items.some((one) => JSON.stringify(one).includes('--delay=12')));
});

test('it makes the one that the CronJob of an admin would make, whatever the admin has changed', async () => {
  const patch = { spec: { jobTemplate: { spec: { template: { spec: { nodeSelector: { disk: 'ssd' } } } } } } };
  await api.kubectl(['-n', namespace, 'patch', 'cronjob', name, '-p', JSON.stringify(patch)]);
  await until('its Job is that of the changed one', async () => {
    const changed = await server.get<CronJob>(resources.cronJobs, namespace, name, { signal });
    const wanted = jobOfServer(changed ?? assert.fail(), ['--fleet=a/b']);
    return (await answerTo(server, wanted)) === 'made';
  });
});

test('others make what they may', async () => {
  const ours = await api.kubeOf({ namespace, name: 'etcd-ratchet' });
  const wanted = job();
  wanted.spec.template.spec.terminationGracePeriodSeconds = 7;
  assert.equal(await answerTo(ours, wanted), 'made');
});
