import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Secret, StatefulSet } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { tools } from '../support/cluster/tools.ts';
import { kubeconfigOfAccount } from './support/account-kubeconfig.ts';
import { certManagerAccount, startCertManager } from './support/cert-manager-controllers.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { installEverything } from './support/everything.ts';
import { never } from './support/installed.ts';
import { askedBy, assertShown, secretIn } from './support/issued-leaves.ts';
import { type Issuer, installCertificates, startIssuer } from './support/issuer.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { fingerprintIn, textIn } from './support/wire.ts';

/**
 * With cert-manager's own controllers, where they can be had; else with the stand-in of cert-manager.test.ts. On a
 * cluster of its own, with all that we install: they look at every namespace.
 *
 * A renewed certificate is served five minutes after it begins (clocks differ), and theirs begin now: what follows a
 * renewal is told by cert-manager.test.ts; a whole life, with its end, by bystanders.test.ts.
 */
// An admin lets the issuer sign CAs of clusters: its clients believe whatever they sign.
process.env.RATCHET_CERTIFICATE_NAMES = 'ClusterIssuer/company=CA:TRUE';
const binary = await tools.certManager.provide();
const binaries = await inOwnSandbox();
const cluster = await startOwnCluster({ binaries });
// With our policies, and each with its own rights: the controllers make objects that bear our labels.
await installEverything(cluster.kubectl, never);
const theirs = await certManagerAccount(cluster);
let started: Issuer | undefined;
// Before the scene's own hook, which takes away what it stands on.
after(async () => started?.[Symbol.asyncDispose]());
const stage = scene({
  fleet: false,
  ticksAs: await kubeconfigOfAccount(cluster),
  furnish: async ({ kube, kubectl, namespace }) => {
    if ('missing' in binary) {
      await installCertificates(kubectl);
      started = await startIssuer({ kube, namespace });
    } else started = await startCertManager({ kube, kubectl, namespace, kubeconfig: theirs }, binary);
    console.log(`certificates are issued by ${started.title}${'missing' in binary ? ` (${binary.missing})` : ''}`);
  },
});
// After it.
after(() => cluster.stop());
const issuer = () => started ?? assert.fail('the issuer was not started');

const tls = {
  mode: 'CertManager',
  certManager: { issuerRef: { name: 'company', kind: 'ClusterIssuer' }, peerIssuerRef: { name: 'etcd' } },
};
const name = 'issued';
const peers = [`${name}-0`, `${name}-1`, `${name}-2`] as const;

async function apply(of: string, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const { kubectl, namespace } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(of, namespace, { tls, ...fields }) });
}

test('a request without approval is waited for by name; then every leaf is what was issued', async () => {
  const { tickUntil, list } = stage();
  issuer().hold(`${name}-1-peer-tls-issued`);
  await apply(name);
  await tickUntil(
    name,
    // Until its issuer has seen it, it is waited for in other words.
    (found) => condition(found, 'Reconciling')?.reason === 'AwaitingCertificates' && saysOf(found, inItsWords),
  );
  const members = await list<StatefulSet>(resources.statefulSets);
  assert.ok(!members.some(({ metadata }) => metadata.name.startsWith(`${name}-`)), 'nothing is started before');

  await issuer().resume();
  const ready = await tickUntil(name, isReady, 120);
  assert.equal(condition(ready, 'CertificatesReady')?.reason, 'Served');
  await assertShown(stage(), name, peers);
  assert.equal(textIn(await secret(`${name}-0-peer-tls`), 'ca.crt'), await issuer().authority('etcd'));
  assert.equal(textIn(await secret(`${name}-0-server-tls`), 'ca.crt'), await issuer().authority('company'));
});

test('a leaf that is renewed is not served before every clock takes it for valid', async () => {
  const { tick } = stage();
  const served = fingerprintIn(await secret(`${name}-2-server-tls`));
  await issuer().renew(`${name}-2-server-tls-issued`);
  assert.notEqual(fingerprintIn(await secret(`${name}-2-server-tls-issued`)), served);
  await tick();
  assert.equal(fingerprintIn(await secret(`${name}-2-server-tls`)), served);
});

test('a denied request is named with the words of its denial, and cured', async () => {
  const { tickUntil } = stage();
  issuer().fail('the budget for this domain is spent', 'refused-reconciler-tls-issued');
  await apply('refused', { replicas: 1, tls: { ...tls, gatewayClient: 'Enabled' } });
  const stalled = await tickUntil('refused', isStalledFor('IssuanceFailed'));
  assert.match(
    condition(stalled, 'Stalled')?.message ?? '',
    /ClusterIssuer company does not issue refused-reconciler-tls-issued: .*the budget for this domain is spent.*To go on/,
  );
  await issuer().resume();
  await tickUntil('refused', isServed, 120);
});

test('the client certificate for the gateway has no common name, and the gateway takes it', async () => {
  const client = await secret('refused-gateway-tls');
  assert.equal(new X509Certificate(textIn(client, 'tls.crt')).subject, undefined);
  const asked = { cluster: 'refused', ca: textIn(client, 'ca.crt'), path: '/v3/kv/range', body: '{"key":"aw=="}' };
  assert.partialDeepStrictEqual(await askedBy(client, stage(), asked), { status: 200 });
});

test('what a shared issuer signs opens clusters without CAs or names of their own, and no other', async () => {
  const { kubectl, namespace, get, ticksUntil, tickUntil } = stage();
  const issuerRef = { name: 'company', kind: 'ClusterIssuer' };
  await apply('own', { replicas: 1, tls: { mode: 'Managed', managed: { issuerRef } } });
  await apply('named', { tls: { mode: 'CertManager', certManager: { issuerRef, allowedNames: 'Own' } } });
  const spec = { secretName: 'stranger', issuerRef, commonName: 'root', usages: ['client auth'], duration: '2160h' };
  const theirs = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: 'stranger', namespace },
    spec,
  };
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(theirs) });
  await tickUntil('own', isServed, 120);
  const named = await tickUntil('named', isServed, 120);
  assert.match(condition(named, 'CertificatesReady')?.message ?? '', /HTTP gateway is off/);
  const stranger = await ticksUntil('the stranger has a certificate', () => get<Secret>(resources.secrets, 'stranger'));

  const company = await issuer().authority('company');
  const range = { path: '/v3/kv/range', body: '{"key":"aw=="}' };
  const asked = (of: string, from: Secret, what: { port?: number; path: string; body?: string } = range) =>
    askedBy(from, stage(), { cluster: of, ca: company, ...what });
  assert.partialDeepStrictEqual(await asked('own', await secret('own-client-tls')), { status: 200 }, 'by its issuer');
  const client = await secret('named-client-tls');
  assert.partialDeepStrictEqual(await asked('named', client, { path: '/version' }), { status: 200 });
  assert.partialDeepStrictEqual(await asked('named', client), { status: 404 }, 'there is no gateway');
  for (const port of [2379, 2380])
    for (const closed of ['own', 'named'])
      assert.ok('refused' in (await asked(closed, stranger, { ...range, port })), `${closed}, ${port}`);
  assert.ok('refused' in (await asked('named', await secret('named-0-server-tls'))), 'a server is no client');
  assert.partialDeepStrictEqual(await asked(name, stranger), { status: 200 }, 'as the pages say');
});

function isServed(found: EtcdCluster): boolean {
  return condition(found, 'CertificatesReady')?.status === 'True' && isReady(found);
}

const inItsWords =
  /issued-1-peer-tls-issued of Issuer etcd yet: DoesNotExist: Issuing certificate as Secret does not exist/;

function saysOf(found: EtcdCluster, what: RegExp): boolean {
  return what.test(condition(found, 'Ready')?.message ?? '');
}

function secret(of: string): Promise<Secret> {
  return secretIn(stage(), of);
}
