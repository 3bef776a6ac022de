/** The whole conversation about a Certificate on a real API server, with our stand-in for cert-manager. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { KubeObject, Secret } from '../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
  certManagerCertificate,
  corrected,
  isCurrent,
} from '../../../manifests/render/cert-manager-certificate.ts';
import { type CertificateState, certificateState } from '../../../manifests/render/cert-manager-state.ts';
import { memberLeaves } from '../../../manifests/render/certificate-names.ts';
import { ownerReference } from '../../../manifests/render/owner-reference.ts';
import { connectKube } from '../../../reconcile/clients/kube.ts';
import { type Resource, resources } from '../../../reconcile/interfaces/kube.ts';
import { inspectLeaf, type LeafFacts } from '../../../reconcile/x509/inspect.ts';
import { installCertificates, startIssuer } from '../../e2e/support/issuer.ts';
import { until } from '../../e2e/support/until.ts';
import { binariesEnvironment, provisionBinaries } from '../../support/cluster/binaries.ts';
import { startControlPlane } from '../../support/cluster/control-plane.ts';
import { kubectlFor } from '../../support/cluster/kubectl.ts';
import { enterSandbox } from '../../support/cluster/sandbox.ts';

const binaries = await provisionBinaries();
const sandbox = await enterSandbox(binariesEnvironment(binaries));
const directory = join(sandbox.directory, 'control-plane');
await mkdir(directory, { mode: 0o700 });
const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());
const controlPlane = parts.use(await startControlPlane(binaries, directory));
const kube = await connectKube({ userAgent: 'cert-manager-test/0', kubeconfig: controlPlane.kubeconfigPath });
parts.defer(() => kube.close());
await installCertificates(kubectlFor(binaries.kubernetes.kubectl, controlPlane.kubeconfigPath));

const namespaces: Resource = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' };

interface Stage {
  readonly namespace: string;
  readonly wanted: CertManagerCertificate;
  found(): Promise<CertManagerCertificate>;
  secret(): Promise<Secret | undefined>;
  leaf(): Promise<LeafFacts>;
  reached(state: CertificateState['state']): Promise<CertificateState>;
  revision(least: number): Promise<unknown>;
}

/** A namespace with one owner, and what one member's server should have. */
async function stage(): Promise<Stage> {
  const namespace = `certificates-${randomBytes(4).toString('hex')}`;
  await kube.create(namespaces, { metadata: { name: namespace } });
  const owner = await kube.create<KubeObject>(resources.configMaps, { metadata: { name: 'owner', namespace } });
  const [, server] = memberLeaves({ namespace, cluster: 'orders' }, 'orders-0');
  const wanted = certManagerCertificate(server, {
    cluster: 'orders',
    namespace,
    // Of another kind than ours, as this API server does not have ours.
    owner: { ...ownerReference('EtcdCluster', owner), apiVersion: 'v1', kind: 'ConfigMap' },
    issuerRef: { name: 'platform' },
    lifetime: 2160 * 3600e3,
  });
  const { name } = wanted.metadata;
  const found = async () => {
    const live = await kube.get<CertManagerCertificate>(certificateResource, namespace, name);
    assert.ok(live, `Certificate ${namespace}/${name}`);
    return live;
  };
  const secret = () => kube.get<Secret>(resources.secrets, namespace, name);
  return {
    namespace,
    wanted,
    found,
    secret,
    async leaf() {
      const inspection = inspectLeaf((await secret())?.data ?? {});
      assert.equal(inspection.kind, 'readable');
      return inspection.leaf;
    },
    reached: (state) =>
      until(`${name} is ${state}`, async () => {
        const now = certificateState(await found());
        return now.state === state && now;
      }),
    revision: (least) =>
      until(`revision ${least} of ${name}`, async () => ((await found()).status?.revision ?? 0) >= least),
  };
}

test('a Certificate is answered with a Secret that holds what it asked for', async () => {
  const { namespace, wanted, found, secret, leaf, reached } = await stage();
  await using issuer = await startIssuer({ kube, namespace });
  await kube.create(certificateResource, wanted);
  const state = await reached('ready');

  const { metadata, type } = (await secret()) ?? assert.fail('no Secret');
  assert.equal(type, 'kubernetes.io/tls');
  for (const [label, value] of Object.entries(wanted.metadata.labels ?? {})) {
    assert.equal(metadata.labels?.[label], value);
  }
  assert.equal(metadata.annotations?.['cert-manager.io/certificate-name'], wanted.metadata.name);
  assert.equal(metadata.annotations['cert-manager.io/issuer-name'], 'platform');
  // cert-manager sets none unless it is told to on its command line.
  assert.equal(metadata.ownerReferences, undefined);

  const facts = await leaf();
  assert.ok(facts.keyMatches);
  assert.deepEqual(facts.dnsNames, wanted.spec.dnsNames);
  assert.equal(state.state === 'ready' && Date.parse(state.notAfter ?? ''), facts.notAfter.getTime());
  assert.ok(isCurrent(await found(), wanted));
  const ca = Buffer.from((await secret())?.data?.['ca.crt'] ?? '', 'base64').toString();
  assert.equal(ca, await issuer.authority('platform'));
});

test('what is held is issuing until it is let go', async () => {
  const { namespace, wanted, found, secret, reached } = await stage();
  await using issuer = await startIssuer({ kube, namespace });
  issuer.hold();
  await kube.create(certificateResource, wanted);
  await until('it is seen', async () => (await found()).status?.conditions?.length === 2);
  assert.deepEqual(await reached('issuing'), {
    state: 'issuing',
    reason: 'DoesNotExist',
    message: 'Issuing certificate as Secret does not exist',
  });
  assert.equal(await secret(), undefined);
  issuer.resume();
  await reached('ready');
});

test('what is refused says so once, and is issued when the issuer changes its mind', async () => {
  const { namespace, wanted, found, secret, reached } = await stage();
  await using issuer = await startIssuer({ kube, namespace });
  issuer.fail('no such CA');
  await kube.create(certificateResource, wanted);
  const message = 'The certificate request has failed to complete and will be retried: no such CA';
  assert.deepEqual(await reached('failed'), { state: 'failed', reason: 'Failed', message });
  assert.equal((await found()).status?.failedIssuanceAttempts, 1);
  assert.equal(await secret(), undefined);
  issuer.resume();
  await reached('ready');
  assert.equal((await found()).status?.failedIssuanceAttempts, undefined);
});

test('a renewal brings another key and another certificate, and never takes Ready away', async () => {
  const { namespace, wanted, found, secret, leaf, reached, revision } = await stage();
  await using issuer = await startIssuer({ kube, namespace });
  await kube.create(certificateResource, wanted);
  await reached('ready');
  const before = await leaf();
  const keyBefore = (await secret())?.data?.['tls.key'];
  const readySince = (await found()).status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;

  await issuer.renew(wanted.metadata.name);
  await revision(2);
  assert.notEqual((await leaf()).fingerprint, before.fingerprint);
  assert.notEqual((await secret())?.data?.['tls.key'], keyBefore);
  assert.deepEqual((await leaf()).trust, before.trust);
  const { conditions } = (await found()).status ?? {};
  assert.deepEqual(
    conditions?.map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime]),
    [['Ready', 'True', readySince]],
  );

  await issuer.replaceAuthority('platform');
  await issuer.renew(wanted.metadata.name);
  assert.notDeepEqual((await leaf()).trust, before.trust);
});

test('a renewal that is refused is told of, while the certificate that is there serves on', async () => {
  const { namespace, wanted, leaf, reached } = await stage();
  await using issuer = await startIssuer({ kube, namespace });
  await kube.create(certificateResource, wanted);
  await reached('ready');
  const { fingerprint } = await leaf();
  issuer.fail('the CA is on holiday');
  await assert.rejects(issuer.renew(wanted.metadata.name), /was not renewed: refused/);
  const state = await reached('ready');
  assert.match((state.state === 'ready' && state.renewalFailed?.message) || '', /on holiday$/);
  assert.equal((await leaf()).fingerprint, fingerprint);
});

test('a Secret that was deleted comes back', async () => {
  const { namespace, wanted, secret, leaf, reached, revision } = await stage();
  await using _ = await startIssuer({ kube, namespace });
  await kube.create(certificateResource, wanted);
  await reached('ready');
  const { fingerprint } = await leaf();
  const { uid = '', name } = (await secret())?.metadata ?? {};
  await kube.delete(resources.secrets, namespace, name ?? '', { preconditions: { uid } });
  await revision(2);
  assert.notEqual((await leaf()).fingerprint, fingerprint);
});

test('an edited Certificate is put right, and issued as it should be', async () => {
  const { namespace, wanted, found, leaf, reached, revision } = await stage();
  await using _ = await startIssuer({ kube, namespace });
  const edited = { ...wanted.spec, dnsNames: ['evil.example.com'], privateKey: { algorithm: 'RSA' } };
  await kube.create(certificateResource, { ...wanted, spec: edited });
  await reached('ready');
  assert.deepEqual((await leaf()).dnsNames, ['evil.example.com']);

  const live = await found();
  assert.ok(!isCurrent(live, wanted));
  await kube.update(certificateResource, corrected(live, wanted));
  await revision(2);
  assert.ok(isCurrent(await found(), wanted));
  assert.deepEqual((await leaf()).dnsNames, wanted.spec.dnsNames);
});

test('a certificate that the issuer lets live for seconds is renewed at two thirds of them', async () => {
  const { namespace, wanted, leaf, reached, revision } = await stage();
  await using _ = await startIssuer({ kube, namespace, lifetime: 6000 });
  await kube.create(certificateResource, wanted);
  const state = await reached('ready');
  assert.equal(state.state, 'ready');
  const renewal = Date.parse(state.renewalTime ?? '');
  assert.equal(Date.parse(state.notAfter ?? '') - renewal, 2000);
  await revision(2);
  assert.ok((await leaf()).notBefore.getTime() >= renewal);
});
