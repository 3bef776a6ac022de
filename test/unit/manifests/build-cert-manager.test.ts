import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDuration } from '../../../manifests/api/duration.ts';
import {
  type CertificateInputs,
  type CertManagerCertificate,
  type CertManagerSpec,
  certManagerCertificate,
  corrected,
  isCurrent,
} from '../../../manifests/render/cert-manager-certificate.ts';
import { type CertificateState, certificateState } from '../../../manifests/render/cert-manager-state.ts';
import {
  clusterLeaves,
  gatewayLeaf,
  type LeafPlan,
  memberLeaves,
  ownNamesOf,
} from '../../../manifests/render/certificate-names.ts';
import { ownerReference } from '../../../manifests/render/owner-reference.ts';
import { clusterOf } from './build-fixtures.ts';

const hour = 3600e3;
const inputs: CertificateInputs = {
  cluster: 'orders',
  namespace: 'payments',
  owner: ownerReference('EtcdCluster', clusterOf()),
  issuerRef: { name: 'platform' },
  lifetime: 90 * 24 * hour,
};
const [peerLeaf, serverLeaf] = memberLeaves({ namespace: 'payments', cluster: 'orders' }, 'orders-1');
const [reconcilerLeaf, applicationLeaf] = clusterLeaves('orders');

test("each leaf is asked for under its Secret's name, owned by the cluster and labelled", () => {
  for (const leaf of [peerLeaf, serverLeaf, reconcilerLeaf, applicationLeaf]) {
    const { metadata, spec } = certManagerCertificate(leaf, inputs);
    assert.equal(metadata.name, leaf.secretName);
    assert.equal(spec.secretName, leaf.secretName);
    assert.equal(metadata.namespace, 'payments');
    assert.deepEqual(metadata.ownerReferences, [inputs.owner]);
    assert.equal(metadata.labels?.['etcd.ratchet.dev/cluster'], 'orders');
    assert.equal(metadata.labels?.['etcd.ratchet.dev/peer'], leaf.peer);
    assert.deepEqual(spec.secretTemplate?.labels, metadata.labels);
    assert.equal(spec.commonName, leaf.commonName);
  }
});

test('a server is asked for with its names once each, its addresses and both usages', () => {
  const twice = { ...serverLeaf, dnsNames: [...serverLeaf.dnsNames, 'localhost', 'etcd.example.com'] };
  const { spec } = certManagerCertificate(twice, inputs);
  assert.deepEqual(spec.dnsNames, [...serverLeaf.dnsNames, 'etcd.example.com']);
  assert.deepEqual(spec.ipAddresses, ['127.0.0.1', '::1']);
  assert.deepEqual(spec.usages, ['digital signature', 'server auth', 'client auth']);
  assert.deepEqual(spec.privateKey, { algorithm: 'ECDSA', size: 256, encoding: 'PKCS8', rotationPolicy: 'Always' });
});

test('a client has no alternative names, and a peer no addresses', () => {
  const { spec } = certManagerCertificate(applicationLeaf, inputs);
  assert.ok(!('dnsNames' in spec) && !('ipAddresses' in spec));
  assert.deepEqual(spec.usages, ['digital signature', 'client auth']);
  assert.ok(!('ipAddresses' in certManagerCertificate(peerLeaf, inputs).spec));
});

test('with names of its own, members and clients have one each, and servers are no clients', () => {
  const place = { namespace: 'payments', cluster: 'orders' };
  const own = ownNamesOf(place);
  const namesIn = (leaf: LeafPlan) => certManagerCertificate(leaf, inputs).spec.dnsNames;
  const [peer, server] = memberLeaves({ ...place, own }, 'orders-1');
  assert.deepEqual(namesIn(peer), [
    'orders-1-0.orders-peers.payments.svc',
    'members.orders.payments.etcd-ratchet.invalid',
  ]);
  assert.deepEqual(server, { ...serverLeaf, usages: ['serverAuth'] });
  const clients = clusterLeaves('orders', own);
  for (const leaf of clients) assert.deepEqual(namesIn(leaf), ['clients.orders.payments.etcd-ratchet.invalid']);
  assert.deepEqual(
    clients.map(({ commonName }) => commonName),
    ['orders-reconciler', 'orders-client', 'orders-reconciler'],
  );
  assert.equal(reconcilerLeaf.commonName, 'root');
});

test('nothing is left to the defaults that cert-manager changed between its versions', () => {
  const { spec } = certManagerCertificate(peerLeaf, inputs);
  assert.deepEqual(spec.issuerRef, { name: 'platform', kind: 'Issuer', group: 'cert-manager.io' });
  assert.equal(spec.revisionHistoryLimit, 1);
  const issuerRef = { name: 'pca', kind: 'AWSPCAClusterIssuer', group: 'awspca.cert-manager.io' };
  assert.deepEqual(certManagerCertificate(peerLeaf, { ...inputs, issuerRef }).spec.issuerRef, issuerRef);
});

for (const [lifetime, renewBefore, written] of [
  [90 * 24 * hour, undefined, ['2160h0m0s', '720h0m0s']],
  [hour, undefined, ['1h0m0s', '20m0s']],
  [hour + 1999, undefined, ['1h0m1s', '20m0s']],
  [100 * hour, 36.5 * 60e3, ['100h0m0s', '36m30s']],
] as const) {
  test(`${lifetime} ms, renewed ${renewBefore ?? 'a third'} before the end, is written as Go writes it`, () => {
    const { spec } = certManagerCertificate(peerLeaf, { ...inputs, lifetime, ...(renewBefore && { renewBefore }) });
    assert.deepEqual([spec.duration, spec.renewBefore], written);
  });
}

test('whatever the lifetime, it is renewed at two thirds of it, to the second', () => {
  fc.assert(
    fc.property(fc.integer({ min: hour, max: 100 * 365 * 24 * hour }), (lifetime) => {
      const { duration, renewBefore } = certManagerCertificate(peerLeaf, { ...inputs, lifetime }).spec;
      assert.ok(Math.abs(parseDuration(duration ?? '') - lifetime) < 1000);
      assert.ok(Math.abs(parseDuration(renewBefore ?? '') - lifetime / 3) < 1000);
    }),
  );
});

for (const [title, over] of [
  ['a lifetime under an hour', { lifetime: hour - 1 }],
  ['no lifetime', { lifetime: Number.NaN }],
  ['a renewal in the last minutes', { renewBefore: 299e3 }],
  ['a renewal before the beginning', { lifetime: hour, renewBefore: hour }],
] as const) {
  test(`${title} is refused here, as cert-manager's webhook would`, () => {
    assert.throws(() => certManagerCertificate(peerLeaf, { ...inputs, ...over }), {
      name: 'RangeError',
      message: /^Certificate payments\/orders-1-peer-tls: .*five minutes/,
    });
  });
}

const wanted = certManagerCertificate(serverLeaf, inputs);

function live(spec: Readonly<Record<string, unknown>> = {}): CertManagerCertificate {
  return {
    ...wanted,
    metadata: { ...wanted.metadata, uid: 'u', resourceVersion: '7', generation: 2 },
    spec: { ...wanted.spec, ...spec } as CertManagerSpec,
  };
}

for (const [title, spec] of [
  ['as it was built', {}],
  ['with its durations written otherwise', { duration: '2160h', renewBefore: '43200m' }],
  ['with an issuer whose defaults are left out', { issuerRef: { name: 'platform' } }],
  ['with empty defaults written out', { isCA: false, emailAddresses: [], uris: [], subject: {} }],
  [
    'with fields and labels of others',
    {
      keystores: { pkcs12: { create: true } },
      secretTemplate: {
        labels: { ...wanted.metadata.labels, team: 'orders' },
        annotations: { 'team.example.com': 'o' },
      },
    },
  ],
] as const) {
  test(`a live Certificate ${title} is current`, () => {
    assert.ok(isCurrent(live(spec), wanted));
  });
}

for (const [title, spec] of [
  ['another Secret', { secretName: 'other' }],
  ['another issuer', { issuerRef: { name: 'elsewhere', kind: 'Issuer', group: 'cert-manager.io' } }],
  ['another kind of issuer', { issuerRef: { name: 'platform', kind: 'ClusterIssuer' } }],
  ['a name missing', { dnsNames: wanted.spec.dnsNames?.slice(1) }],
  ['a name more', { dnsNames: [...(wanted.spec.dnsNames ?? []), 'evil.example.com'] }],
  ['a name of a kind that we never ask for', { uris: ['spiffe://cluster.local/ns/x'] }],
  ['the right to sign', { isCA: true }],
  ['another lifetime', { duration: '2161h' }],
  ['a lifetime that is none', { duration: 'long' }],
  ['two times of renewal', { renewBeforePercentage: 10 }],
  ['a key that stays', { privateKey: { ...wanted.spec.privateKey, rotationPolicy: 'Never' } }],
  ['no key settings', { privateKey: undefined }],
  ['one usage fewer', { usages: ['digital signature', 'server auth'] }],
  ['a label of ours missing on the Secret', { secretTemplate: { labels: {} } }],
] as const) {
  test(`a live Certificate with ${title} is put right, and then it is current`, () => {
    const found = live(spec);
    assert.ok(!isCurrent(found, wanted));
    const written = corrected(found, wanted);
    assert.ok(isCurrent(written, wanted));
    assert.equal(written.metadata.resourceVersion, '7');
  });
}

test('putting a Certificate right keeps what others wrote', () => {
  const annotations = { 'team.example.com': 'orders' };
  const found = live({ isCA: true, keystores: { jks: { create: true } }, secretTemplate: { annotations } });
  const written = corrected({ ...found, metadata: { ...found.metadata, annotations } }, wanted);
  assert.deepEqual(written.metadata.annotations, annotations);
  assert.deepEqual(written.spec.secretTemplate, { annotations, labels: wanted.metadata.labels });
  assert.deepEqual(Object.keys(written.spec).includes('keystores'), true);
});

test('a client Certificate with an edited name is not current', () => {
  const client = certManagerCertificate(applicationLeaf, inputs);
  const found = { ...client, spec: { ...client.spec, dnsNames: ['orders-0-0.orders-peers.payments.svc'] } };
  assert.ok(!isCurrent(found, client));
  assert.ok(!('dnsNames' in corrected(found, client).spec));
});

test('a Certificate for the gateway has no common name, and one that got it is put right', () => {
  const gateway = certManagerCertificate(gatewayLeaf({ namespace: 'payments', cluster: 'orders' }), inputs);
  assert.ok(!('commonName' in gateway.spec));
  assert.deepEqual(gateway.spec.dnsNames, ['gateway.orders.payments.etcd-ratchet.invalid']);
  const found = { ...gateway, spec: { ...gateway.spec, commonName: 'orders' } };
  assert.ok(!isCurrent(found, gateway));
  assert.ok(!('commonName' in corrected(found, gateway).spec));
});

test("a Certificate of the cluster's namesake, or without our label, is not current", () => {
  const earlier = ownerReference('EtcdCluster', { metadata: { name: 'orders', uid: 'earlier-uid' } });
  assert.ok(!isCurrent({ ...live(), metadata: { ...live().metadata, ownerReferences: [earlier] } }, wanted));
  assert.ok(!isCurrent({ ...live(), metadata: { ...live().metadata, labels: {} } }, wanted));
});

type Status = NonNullable<CertManagerCertificate['status']>;

const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: 'Certificate is up to date and has not expired',
};
const missing = { reason: 'DoesNotExist', message: 'Issuing certificate as Secret does not exist' };
const notReady = { type: 'Ready', status: 'False', ...missing };
const refused = { reason: 'Failed', message: 'The certificate request has failed to complete and will be retried: no' };

const states: readonly [title: string, status: Status | undefined, expected: CertificateState][] = [
  [
    'nobody has looked at it',
    undefined,
    {
      state: 'issuing',
      reason: 'NotObserved',
      message:
        'cert-manager has not looked at Certificate payments/orders-1-server-tls yet: see that it is installed and runs',
    },
  ],
  ['it is seen, its Secret is not there', { conditions: [notReady] }, { state: 'issuing', ...missing }],
  [
    'it is being issued',
    { conditions: [notReady, { type: 'Issuing', status: 'True', reason: 'Renewing', message: 'because' }] },
    { state: 'issuing', reason: 'Renewing', message: 'because' },
  ],
  [
    'it is issued',
    { conditions: [ready], notAfter: '2026-04-01T00:00:00Z', renewalTime: '2026-03-01T00:00:00Z', revision: 1 },
    { state: 'ready', notAfter: '2026-04-01T00:00:00Z', renewalTime: '2026-03-01T00:00:00Z', revision: 1 },
  ],
  [
    'it is being renewed',
    { conditions: [ready, { type: 'Issuing', status: 'True', reason: 'Renewing' }], notAfter: 'n' },
    { state: 'ready', notAfter: 'n' },
  ],
  [
    'its renewal fails',
    { conditions: [ready, { type: 'Issuing', status: 'False', ...refused }] },
    { state: 'ready', renewalFailed: refused },
  ],
  [
    'the issuer refuses',
    { conditions: [notReady, { type: 'Issuing', status: 'False', ...refused }], failedIssuanceAttempts: 1 },
    { state: 'failed', ...refused },
  ],
  [
    'the issuer refused, and is asked again',
    { conditions: [notReady, { type: 'Issuing', status: 'True', ...missing }], failedIssuanceAttempts: 1 },
    { state: 'issuing', ...missing },
  ],
  [
    "another Certificate's Secret has that name",
    { conditions: [{ type: 'Ready', status: 'False', reason: 'IncorrectCertificate', message: 'two' }] },
    { state: 'failed', reason: 'IncorrectCertificate', message: 'two' },
  ],
  [
    'it was Ready before its last change',
    { conditions: [{ ...ready, observedGeneration: 1 }] },
    certificateState(live()),
  ],
  [
    'it failed before its last change',
    {
      conditions: [
        { ...notReady, observedGeneration: 2 },
        { type: 'Issuing', status: 'False', ...refused, observedGeneration: 1 },
      ],
    },
    { state: 'issuing', ...missing },
  ],
  [
    'a controller writes no reason',
    { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    { state: 'issuing', reason: 'Unknown', message: '' },
  ],
];

for (const [title, status, expected] of states) {
  test(`a Certificate's state when ${title}: ${expected.state}`, () => {
    assert.deepEqual(certificateState({ ...live(), ...(status && { status }) }), expected);
  });
}

test('what an issuer says is cut to one bounded line, whatever it says', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 2000, unit: 'binary' }), fc.string({ maxLength: 200 }), (message, reason) => {
      const conditions = [{ type: 'Issuing', status: 'False', reason, message }];
      const state = certificateState({ ...live(), status: { conditions } });
      assert.equal(state.state, 'failed');
      if (state.state !== 'failed') return;
      assert.ok(state.message.length <= 256 && state.message.isWellFormed());
      assert.doesNotMatch(state.message, /\p{Cc}/u);
      assert.match(state.reason, /^[A-Za-z]\w{0,63}$/);
    }),
  );
  const conditions = [
    { type: 'Issuing', status: 'False', reason: 'Failed', message: `no\r\n\tsuch   CA ${'x'.repeat(999)}` },
  ];
  const state = certificateState({ ...live(), status: { conditions } });
  assert.match(state.state === 'failed' ? state.message : '', /^no such CA x+…$/);
});
