/**
 * What other people run, in a namespace that has nothing to do with us, beside all that we install and do: the whole
 * life of a cluster, with certificates of cert-manager's own controllers, where they can be had.
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EtcdClusterStatus } from '../../manifests/api/etcd-cluster-status.ts';
import type { Secret } from '../../manifests/kube-types.ts';
import { type CertManagerCertificate, certificateResource } from '../../manifests/render/cert-manager-certificate.ts';
import { connectKube } from '../../reconcile/clients/kube.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { tools } from '../support/cluster/tools.ts';
import { backupStore } from './support/backup-store.ts';
import { certManagerAccount, startCertManager } from './support/cert-manager-controllers.ts';

import { installEverything } from './support/everything.ts';
import { type Issuer, installCertificates, startIssuer } from './support/issuer.ts';
import { conditionOf } from './support/issuer-answers.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { lasting, type Seen, shopIn, told } from './support/shop.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { textIn } from './support/wire.ts';

const binary = await tools.certManager.provide();
const binaries = await inOwnSandbox();
const own = await startOwnCluster({ binaries });
after(() => own.stop());
const { kubectl } = own;
const kube = await connectKube({ userAgent: 'e2e/0', kubeconfig: own.kubeconfigPath });
after(() => kube.close());

const theirs = 'shop';
const ours = 'payments';
const at = (namespace: string, ...args: readonly string[]) => kubectl(['-n', namespace, ...args]);
const apply = (objects: readonly object[], ...how: readonly string[]) =>
  kubectl(['apply', ...how, '-f', '-'], { stdin: objects.map((one) => JSON.stringify(one)).join('\n---\n') });
const plural = (kind: string) => `${kind}.etcd.ratchet.dev`;

interface Own {
  readonly metadata: { readonly generation: number };
  readonly status?: EtcdClusterStatus;
}

/** As the newest spec wants it. */
async function ready(kind: string, name: string): Promise<Own> {
  const look = async () => {
    const answer = await at(ours, 'get', plural(kind), name, '--ignore-not-found', '-o', 'json');
    const found: Own | undefined = answer === '' ? undefined : JSON.parse(answer);
    const { observedGeneration, conditions = [] } = found?.status ?? {};
    const isSo = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    return isSo && observedGeneration === found?.metadata.generation && found;
  };
  return until(`${kind} ${name} Ready`, look, patience);
}

const patience = { within: 240, every: 1000 };

const kinds = [
  ...['configmaps', 'secrets', 'services', 'serviceaccounts', 'persistentvolumeclaims', 'pods', 'statefulsets'],
  ...['deployments', 'cronjobs', 'poddisruptionbudgets', 'networkpolicies', 'roles', 'rolebindings'],
].join();

async function seen(): Promise<readonly Seen[]> {
  const { items } = JSON.parse(await at(theirs, 'get', kinds, '--show-managed-fields', '-o', 'json'));
  return lasting(items);
}

async function done(): Promise<number> {
  const jobs = await at(theirs, 'get', 'jobs', '-o', 'jsonpath={.items[*].status.succeeded}');
  return jobs.split(' ').filter((one) => one === '1').length;
}

/** A person scales, as on any day. */
async function scaled(replicas: number): Promise<void> {
  await at(theirs, 'scale', 'deployment', 'web', `--replicas=${replicas}`);
  const pods = ['get', 'pods', '-l', 'app=web', '--field-selector=status.phase=Running', '-o', 'name'];
  const count = async () => (await at(theirs, ...pods)).split('\n').filter(Boolean).length;
  await until(`${replicas} pods of theirs`, async () => (await count()) === replicas, patience);
}

let passes = 0;
/** Now, as a push would have it, and not with the next minute. */
const pass = () => at('etcd-ratchet', 'create', 'job', '--from=cronjob/etcd-ratchet', `pass-${passes++}`);

const issuerRef = { name: 'company', kind: 'ClusterIssuer' };
const tls = { mode: 'CertManager', certManager: { issuerRef, peerIssuerRef: { name: 'etcd' } } };

async function issuing(): Promise<Issuer> {
  if ('missing' in binary) {
    await installCertificates(kubectl);
    return startIssuer({ kube, namespace: ours });
  }
  const kubeconfig = await certManagerAccount(own);
  return startCertManager({ kube, kubectl, namespace: ours, kubeconfig }, binary);
}

/** All that was issued for a cluster, each as its issuer signs. @returns how many */
async function issuedFor(cluster: string, issuer: Issuer): Promise<number> {
  const { items } = await kube.list<CertManagerCertificate>(certificateResource, { namespace: ours });
  const certificates = items.filter(({ metadata }) => metadata.name.startsWith(`${cluster}-`));
  for (const one of certificates) assert.equal(conditionOf(one, 'Ready')?.status, 'True', one.metadata.name);
  for (const [name, by] of [
    [`${cluster}-0-server-tls`, 'company'],
    [`${cluster}-0-peer-tls`, 'etcd'],
  ] as const) {
    const secret = await kube.get<Secret>(resources.secrets, ours, name);
    assert.equal(textIn(secret ?? assert.fail(`${name} is not there`), 'ca.crt'), await issuer.authority(by));
  }
  return certificates.length;
}

const to = { object: 'pvc://backups/{{cluster}}.db' };
const document = (kind: string, name: string, spec: object) => ({
  ...{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind, metadata: { name, namespace: ours }, spec },
});

test('a shop goes on beside the whole life of a cluster, with all components on', { timeout: 600_000 }, async (t) => {
  await installEverything(kubectl);
  await kubectl(['create', 'namespace', ours]);
  await using issuer = await issuing();
  t.diagnostic(`certificates are issued by ${issuer.title}`);
  await apply(shopIn(theirs));
  await at(theirs, 'rollout', 'status', 'deployment/web', '--timeout=60s');
  await at(theirs, 'rollout', 'status', 'statefulset/db', '--timeout=60s');
  const before = told(await seen());

  const cluster = (fields: object) =>
    kubectl(['apply', '-f', '-'], { stdin: clusterYaml('orders', ours, { tls, ...fields }) });
  await apply([backupStore(ours)]);
  await cluster({ replicas: 3 });
  await pass();
  await ready('etcdclusters', 'orders');
  assert.ok((await issuedFor('orders', issuer)) >= 7, 'a server and a peer each, and a client');
  await scaled(4);
  await cluster({ replicas: 1, version: '3.7.3' });
  await pass();
  const { status } = await ready('etcdclusters', 'orders');
  assert.deepEqual(
    status?.members?.map(({ version }) => version),
    ['3.7.3'],
  );
  await apply([document('EtcdBackup', 'orders', { clusterName: 'orders', to })]);
  await pass();
  await ready('etcdbackups', 'orders');
  // As another tool does that keeps their documents, with the rights of a tenant.
  await at(ours, 'create', 'rolebinding', 'argo', '--clusterrole=edit', `--serviceaccount=${ours}:argo`);
  const restored = { name: 'again', spec: { replicas: 1, version: '3.7.3', storage: { size: '1Gi' }, tls } };
  await apply(
    [document('EtcdRestore', 'again', { backupName: 'orders', cluster: restored })],
    `--as=system:serviceaccount:${ours}:argo`,
  );
  await pass();
  await ready('etcdclusters', 'again');
  await issuedFor('again', issuer);
  await at(ours, 'delete', plural('etcdclusters'), 'orders', 'again', '--wait=false');
  await pass();
  const isGone = async () => (await at(ours, 'get', plural('etcdclusters'), '-o', 'name')) === '';
  await until('both clusters are gone', isGone, patience);
  const isWithout = async () => {
    const { items } = await kube.list<CertManagerCertificate>(certificateResource, { namespace: ours });
    const { items: secrets } = await kube.list<Secret>(resources.secrets, { namespace: ours });
    return ![...items, ...secrets].some(({ metadata: { name } }) => /^(orders|again)-/.test(name));
  };
  await until('all that was issued for them is gone', isWithout, patience);
  await scaled(2);

  await until('their CronJob has been at work', async () => (await done()) >= 2, { within: 150, every: 2000 });
  const now = await seen();
  const isOf = (app: string) => (one: { readonly name: string }) => one.name === app || one.name.startsWith(`${app}-`);
  const [web, rest] = [before.filter(isOf('web')), before.filter((one) => !isOf('web')(one))];
  assert.deepEqual(
    told(now).filter((one) => !isOf('web')(one)),
    rest,
  );
  // What a person scaled has other pods, and another generation.
  const settled = (of: typeof web) => of.filter(({ kind }) => kind !== 'Pod' && kind !== 'Deployment');
  assert.deepEqual(settled(told(now).filter(isOf('web'))), settled(web));
  const managers = new Set(now.flatMap(({ metadata }) => (metadata.managedFields ?? []).map(({ manager }) => manager)));
  assert.deepEqual(
    [...managers].filter((manager) => /ratchet/.test(manager)),
    [],
  );
  const events = await at(
    theirs,
    'get',
    'events',
    '-o',
    'jsonpath={.items[*].source.component} {.items[*].reportingComponent}',
  );
  assert.doesNotMatch(events, /ratchet/);
  t.diagnostic(`${rest.length + web.length} objects of theirs, ${await done()} Jobs done`);
});
