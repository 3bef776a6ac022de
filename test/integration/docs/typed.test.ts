import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { asOf } from '../../e2e/support/runbooks/typing.ts';
import { follow } from '../../e2e/support/tutorial.ts';
import { until } from '../../e2e/support/until.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { tools } from '../../support/cluster/tools.ts';
import { blocksOf } from '../../support/docs/blocks.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { checkout, read } from '../../unit/docs/pages.ts';
import { startApiServer } from '../manifests/api-server.ts';
import { installKnativeKinds } from './knative-kinds.ts';

/** Pages whose commands need an API server and no node, typed one after the other as one platform team would. */

// Before the sandbox, which reaches no network.
const pageTools = await tools.pageTools.provide();
const { kubectl: kubectlPath } = (await provisionBinaries()).kubernetes;
const api = await startApiServer();
const directory = await mkdtemp(join(tmpdir(), 'pages-'));
after(async () => {
  await api[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const blocksAt = typedIn('integration/docs/typed');
const jsonPath = async (path: string, ...what: readonly string[]) =>
  await api.kubectl(['get', ...what, '-o', `jsonpath=${path}`]);

/** A checkout of the reader's own, and the commands: docker and kind are noted only, the others do what they do. */
before(async () => {
  const bin = join(directory, 'bin');
  await mkdir(bin);
  await cp(join(checkout, 'manifests'), join(directory, 'manifests'), { recursive: true });
  await symlink(kubectlPath, join(bin, 'kubectl'));
  await symlink(pageTools.kustomize, join(bin, 'kustomize'));
  for (const noted of ['docker', 'kind'])
    await writeFile(join(bin, noted), `#!/bin/sh\necho "${noted} $*"\n`, { mode: 0o755 });
  const kubeconfig = await api.kubectl(['config', 'view', '--raw', '--flatten']);
  await writeFile(join(directory, 'kubeconfig'), kubeconfig, { mode: 0o600 });
  for (const namespace of ['payments', 'monitoring']) await api.kubectl(['create', 'namespace', namespace]);
});

/** With what the reader replaces, and by what. */
async function typed(places: readonly string[], names: Readonly<Record<string, string>> = {}): Promise<void> {
  const written = asOf(names, places.flatMap(blocksAt));
  const path = `${join(directory, 'bin')}:/usr/bin:/bin`;
  const env = { PATH: path, HOME: directory, KUBECONFIG: join(directory, 'kubeconfig') };
  await follow(written, { cwd: directory, env });
}

/** The documents that a page shows, as its reader applies them. */
async function applied(page: string, ...kinds: readonly string[]): Promise<void> {
  const shown = blocksOf(page, read(page)).filter(
    ({ kind, text }) => kind === 'yaml' && kinds.some((one) => text.includes(`kind: ${one}\n`)),
  );
  assert.ok(shown.length >= kinds.length, page);
  for (const { text } of shown) await api.kubectl(['apply', '-f', '-'], { stdin: text });
}

const imageOf = () =>
  jsonPath('{.spec.jobTemplate.spec.template.spec.containers[0].image}', '-n', 'etcd-ratchet', 'cronjob/etcd-ratchet');

const fleetLabel = String.raw`{.metadata.labels.etcd\.ratchet\.dev/fleet-secret}`;

test('README installs the image that it builds and loads, and a node that has it pulls none', async () => {
  const [{ text = '' } = {}] = blocksAt('README.md#install');
  // What the plugin is built from is not here; test/e2e/readme types that line.
  await typed(['README.md#install'], { 'npm ci && npm run build && npm link\n': '' });
  const image = await imageOf();
  for (const command of ['docker build -t', 'kind load docker-image']) assert.ok(text.includes(`${command} ${image}`));
  const policy = '{.spec.jobTemplate.spec.template.spec.containers[0].imagePullPolicy}';
  assert.equal(await jsonPath(policy, '-n', 'etcd-ratchet', 'cronjob/etcd-ratchet'), 'IfNotPresent');
});

test('install.md installs from a registry, and names who approves', async () => {
  await typed(['docs/how-to/install.md']);
  assert.equal(await imageOf(), 'registry.example.com/etcd-ratchet:v0.1.0');
  const group = await jsonPath('{.subjects[0].name}', '-n', 'payments', 'rolebinding/etcd-approvers');
  assert.equal(group, 'etcd-on-call');
});

test('fleets.md lets a fleet in, and sees its clusters', async () => {
  await applied('docs/how-to/fleets.md', 'EtcdFleet', 'EtcdCluster');
  await typed(['docs/how-to/fleets.md']);
  assert.equal(await jsonPath(fleetLabel, '-n', 'etcd-ratchet', 'secret/forge-token'), 'true');
  const subject = '{.subjects[0].namespace}/{.subjects[0].name}';
  assert.equal(await jsonPath(subject, '-n', 'payments', 'rolebinding/etcd-ratchet-fleet'), 'etcd-ratchet/fleet');
});

test('revisions.md asks for a pass', async () => {
  await typed(['docs/how-to/revisions.md']);
  const asked = String.raw`{.metadata.annotations.etcd\.ratchet\.dev/reconcile}`;
  assert.match(await jsonPath(asked, '-n', 'etcd-ratchet', 'etcdfleets/production'), /^\d{10}$/);
});

test('tls.md asks for new certificates', async () => {
  await typed(['docs/how-to/tls.md#renew-and-rotate']);
  const asked = String.raw`{.metadata.annotations.etcd\.ratchet\.dev/rotate-certificates}`;
  assert.notEqual(await jsonPath(asked, '-n', 'payments', 'etcdclusters.etcd.ratchet.dev/orders'), '');
});

test('webhooks.md makes a secret that a fleet may use', async () => {
  await typed(['docs/how-to/webhooks.md']);
  assert.equal(await jsonPath(fleetLabel, '-n', 'etcd-ratchet', 'secret/webhook'), 'true');
  const secret = Buffer.from(await jsonPath('{.data.secret}', '-n', 'etcd-ratchet', 'secret/webhook'), 'base64');
  assert.match(secret.toString(), /^[0-9a-f]{64}$/);
});

test('air-gapped.md carries the images over, and installs from the mirror', async () => {
  await typed([
    'docs/how-to/air-gapped.md#1-mirror-the-images',
    'docs/how-to/air-gapped.md#2-install-from-the-mirror:1',
  ]);
  assert.equal(await imageOf(), 'registry.example.com/etcd-ratchet:v0.1.0');
});

test('knative.md installs what Knative is told, with one image', async (t) => {
  if ('missing' in pageTools.knative)
    t.diagnostic(`definitions that take any field serve: ${pageTools.knative.missing}`);
  await installKnativeKinds(api.kubectl, pageTools);
  const page = 'docs/how-to/knative.md';
  await api.kubectl(['create', 'namespace', 'knative-serving']);
  await api.kubectl(['-n', 'knative-serving', 'create', 'configmap', 'config-domain']);
  await typed([`${page}#install-it`, `${page}#a-broker-that-is-there-already`, `${page}#the-address-of-the-webhooks`]);
  await typed([`${page}#when-nothing-happens-after-a-change`]);
  assert.equal(await jsonPath(String.raw`{.metadata.labels.etcd\.ratchet\.dev/events}`, 'namespace/payments'), 'true');
  const service = ['-n', 'etcd-ratchet', 'services.serving.knative.dev/etcd-ratchet-events'];
  assert.equal(await jsonPath('{.spec.template.spec.containers[0].image}', ...service), await imageOf());
  await typed(['docs/how-to/limit-tenants.md']);
  const settings = await jsonPath('{.spec.template.metadata.annotations.settings-of}', ...service);
  assert.match(settings, /^\d{10}$/);
});

test('monitoring.md and network-policies.md let Prometheus in', async () => {
  const monitoring = ['in-ten-minutes-with-the-prometheus-operator:1', 'the-state-of-objects', 'what-a-pass-sends'];
  await typed(monitoring.map((anchor) => `docs/how-to/monitoring.md#${anchor}`));
  await typed(['docs/how-to/network-policies.md']);
  const label = String.raw`{.metadata.labels.etcd\.ratchet\.dev/monitoring}`;
  assert.equal(await jsonPath(label, 'namespace/monitoring'), 'true');
  const read = ['auth', 'can-i', 'list', 'etcdclusters.etcd.ratchet.dev', '-A'];
  // The API server learns of a binding by watch.
  const account = '--as=system:serviceaccount:monitoring:kube-state-metrics';
  await until('the right counts', async () => (await api.kubectl([...read, account])).trim() === 'yes');
  const endpoint = await jsonPath(
    '{.data.OTEL_EXPORTER_OTLP_ENDPOINT}',
    '-n',
    'etcd-ratchet',
    'cm/etcd-ratchet-settings',
  );
  assert.equal(endpoint, 'http://collector.monitoring.svc:4318');
});

test('node-reboots.md asks for a reboot, lets a fleet write policies, and lets a cluster be down', async () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-7' } };
  await api.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(node) });
  await applied('docs/how-to/node-reboots.md', 'EtcdNodePolicy');
  await typed(['docs/how-to/node-reboots.md#a-policy', 'docs/how-to/node-reboots.md#a-policy-in-git']);
  const needed = String.raw`{.metadata.annotations.etcd\.ratchet\.dev/reboot-needed}`;
  assert.equal(await jsonPath(needed, 'node/node-7'), 'kernel 6.12.9');
  await typed(['docs/how-to/node-reboots.md#a-teams-broken-cluster']);
  assert.equal(await jsonPath('{.spec.allowDowntimeOf[0]}', 'etcdnodepolicy/workers'), 'team-b/orders');
  await typed(['docs/runbooks/node-stuck.md'], { NAME: 'workers', NODE: 'node-7' });
});

test('external-clients.md keeps load balancers out of a namespace', async () => {
  await typed(['docs/how-to/external-clients.md#what-is-refused']);
  const service = ['-n', 'payments', 'create', 'service', 'loadbalancer', 'costly', '--tcp=2379'];
  const counted = () => jsonPath('{.status.hard}', '-n', 'payments', 'quota/no-load-balancers');
  await until('the quota counts', async () => (await counted()) !== '');
  await assert.rejects(api.kubectl(service), /exceeded quota: no-load-balancers/);
});

test('what the runbooks only look at is there to be looked at', async () => {
  await typed(['docs/runbooks/README.md', 'docs/runbooks/alerts.md#etcdratchetdoesnotrun']);
  const page = 'docs/runbooks/member-list.md';
  await typed([page, `${page}#a-removal-does-not-end`, `${page}#new-members-are-not-promoted`]);
});
