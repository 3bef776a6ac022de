import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { Secret } from '../../../../manifests/kube-types.ts';
import {
  type CertificateRequest,
  certificateRequestResource,
} from '../../../../manifests/render/cert-manager-request.ts';
import { readAllowances } from '../../../../manifests/render/certificate-allowance.ts';
import { authoritySecret } from '../../../../manifests/render/certificate-secret.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { intermediateKey } from '../../../../reconcile/x509/intermediate.ts';
import { createAuthority } from '../../../../reconcile/x509/issue.ts';
import { authorityData } from '../../../../reconcile/x509/secret-data.ts';
import { type Answer, answered, rootAuthority } from '../../../e2e/support/signed-requests.ts';
import { prepared } from '../observations.ts';
import { carryOut, kubeOf } from './on-kube.ts';

/** What the actions about an issuer's signature look at again just before they act, whatever was decided. */

const observation = prepared(1);
const { cluster, at } = observation;
const hour = 3600e3;
const life = {
  notBefore: new Date(Math.floor(at.getTime() / 1000) * 1000 - hour),
  notAfter: new Date(Math.floor(at.getTime() / 1000) * 1000 + 10_000 * hour),
};
const order = {
  name: 'orders-client-ca-1',
  issuerRef: { name: 'company', kind: 'ClusterIssuer' },
  issuer: 'ClusterIssuer/company',
  lifetime: 1000 * hour,
};
const { allowances: allowed } = readAllowances('ClusterIssuer/company=CA:TRUE');
const ask: ActionOf<'request-intermediate'> = { kind: 'request-intermediate', order, at: at.toISOString() };
const company = rootAuthority('company', life);

async function withAuthority(record = {}) {
  const kube = kubeOf(observation);
  const made = await createAuthority({ commonName: 'orders client CA', ...life });
  const data = authorityData(made, [made.certificate]);
  kube.seed<Secret>(resources.secrets, authoritySecret('client', cluster, { token: 'token', ...record }, data));
  return kube;
}

async function answeredBy(how: Answer) {
  const kube = await withAuthority();
  await carryOut(ask, observation, kube, undefined, allowed);
  const [request] = kube.stored<CertificateRequest>(certificateRequestResource);
  assert.ok(request);
  const reply = answered(request, company, { how, validity: life });
  kube.seed<CertificateRequest>(certificateRequestResource, reply);
  return { kube, reply };
}

function signedIn(kube: ReturnType<typeof kubeOf>): string | undefined {
  return kube.stored<Secret>(resources.secrets).find(({ metadata }) => metadata.name === 'orders-client-ca')?.data?.[
    intermediateKey
  ];
}

test('whatever an order says, no issuer is asked to sign a CA that the cluster may not have', async () => {
  const kube = await withAuthority();
  for (const text of ['', 'ClusterIssuer/company=*', 'ClusterIssuer/other=CA:TRUE']) {
    const { allowances } = readAllowances(text);
    await assert.rejects(
      carryOut(ask, observation, kube, undefined, allowances),
      /this installation does not let that issuer sign CAs of clusters/,
    );
  }
  assert.deepEqual(kube.stored(certificateRequestResource), []);
});

test('a request that is there is left as it is, and one that was refused makes room for the next', async () => {
  const { kube, reply } = await answeredBy('deny');
  await carryOut(ask, observation, kube, undefined, allowed);
  assert.equal(kube.stored(certificateRequestResource)[0]?.metadata.uid, reply.metadata.uid);
  await carryOut({ ...ask, instead: reply.metadata.uid ?? '' }, observation, kube, undefined, allowed);
  const [next, ...others] = kube.stored<CertificateRequest>(certificateRequestResource);
  assert.deepEqual([others, next?.status], [[], undefined]);
  assert.notEqual(next?.metadata.uid, reply.metadata.uid);
});

/** The certificate that was judged has this fingerprint. */
const take = (fingerprint: string) =>
  ({ kind: 'take-intermediate', order, at: at.toISOString(), fingerprint }) as const;

test('another certificate than was judged is not taken, nor one that is no CA', async () => {
  const { kube } = await answeredBy('sign');
  await assert.rejects(carryOut(take('another'), observation, kube), /has changed since it was looked at/);
  assert.equal(signedIn(kube), undefined);
  const { kube: ofLeaf, reply } = await answeredBy('leaf');
  await assert.rejects(carryOut(take(fingerprintOf(reply)), observation, ofLeaf), /has changed/);
  assert.equal(signedIn(ofLeaf), undefined);
});

test('what another owner has had signed is not taken, whatever it is', async () => {
  const { kube, reply } = await answeredBy('sign');
  const { ownerReferences: _, ...metadata } = reply.metadata;
  kube.seed<CertificateRequest>(certificateRequestResource, { ...reply, metadata });
  await assert.rejects(carryOut(take(fingerprintOf(reply)), observation, kube), /has changed/);
  assert.equal(signedIn(kube), undefined);
});

test('what was signed goes beside the CA, whose key, trust and record stay', async () => {
  const { kube, reply } = await answeredBy('sign');
  const [before] = kube.stored<Secret>(resources.secrets);
  await carryOut(take(fingerprintOf(reply)), observation, kube);
  const [after] = kube.stored<Secret>(resources.secrets);
  assert.deepEqual(after?.data, { ...before?.data, [intermediateKey]: reply.status?.certificate });
  assert.deepEqual(after?.metadata.annotations, {
    ...before?.metadata.annotations,
    'etcd.ratchet.dev/issuer': 'ClusterIssuer/company',
  });
  assert.deepEqual(kube.stored(certificateRequestResource), []);
});

function fingerprintOf({ status }: CertificateRequest): string {
  const pem = Buffer.from(status?.certificate ?? '', 'base64').toString();
  return new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
}
