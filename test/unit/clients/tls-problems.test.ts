import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allFailed, etcdError } from '../../../reconcile/clients/etcd-errors.ts';
import { mayHideTls, sentenceFor, tlsProblemIn } from '../../../reconcile/clients/tls-problems.ts';
import { EtcdError, type TlsProblem } from '../../../reconcile/interfaces/etcd.ts';

const parties = { serverName: 'm0-0.peers.ns.svc', ours: 'from then to now' };
const grpc = (words: string) => `14 UNAVAILABLE: No connection established. Last error: ${words}. Resolution note: `;
const openssl = (reason: string, number: number) =>
  `40ED692D707F0000:error:0A00045C:SSL routines:ssl3_read_bytes:${reason}:../deps/openssl/ssl/record/rec_layer_s3.c:918:SSL alert number ${number}\n`;

for (const [words, problem, says] of [
  [grpc('Error: certificate has expired'), 'CertificateExpired', /presented a certificate that has expired/],
  ['certificate has expired', 'CertificateExpired', /renewed/],
  ['CERT_HAS_EXPIRED', 'CertificateExpired', /renewed/],
  [grpc('Error: certificate is not yet valid'), 'CertificateNotYetValid', /clocks/],
  [
    grpc('Error: unable to verify the first certificate; if the root CA is installed locally, try running Node.js'),
    'WrongAuthority',
    /ca\.crt has signed \(unable to verify the first certificate\)/,
  ],
  ['self-signed certificate in certificate chain', 'WrongAuthority', /add its authority to ca\.crt/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'WrongAuthority', /ca\.crt/],
  [
    grpc("Error [ERR_TLS_CERT_ALTNAME_INVALID]: Hostname/IP does not match certificate's altnames: Host: a. is not b"),
    'NameMismatch',
    /not for m0-0\.peers\.ns\.svc \(Host: a\. is not b\)/,
  ],
  [grpc(openssl('tlsv13 alert certificate required', 116)), 'ClientCertificateRefused', /alert certificate required/],
  [openssl('ssl/tls alert certificate expired', 45), 'ClientCertificateRefused', /valid from then to now: renew it/],
  [openssl('tlsv1 alert unknown ca', 48), 'ClientCertificateRefused', /only when it starts/],
  [openssl('ssl/tls alert bad certificate', 42), 'ClientCertificateRefused', /client authentication/],
  [openssl('wrong version number', 0), 'PlaintextOnTlsPort', /plaintext/],
  ['unsuitable certificate purpose', 'HandshakeFailed', /server authentication/],
] as const satisfies readonly (readonly [string, TlsProblem, RegExp])[]) {
  test(`"${words.slice(0, 120).trim()}" is ${problem}, and nothing was read`, () => {
    const error = etcdError('status', 'https://a:2379', new Error(words), parties);
    assert.equal(error.tls, problem);
    assert.equal(error.outcome, 'down');
    assert.match(error.message, says);
    assert.ok(error.message.startsWith('status at https://a:2379: '));
    assert.equal(error.cause, undefined);
    // What goes into a status must be the same the next time.
    assert.doesNotMatch(error.message, /40ED|deps|SSL alert number|Resolution note/);
  });
}

for (const [words, outcome] of [
  [openssl('tlsv1 alert internal error', 80), 'ambiguous'],
  [grpc(openssl('tlsv1 alert internal error', 80)), 'down'],
] as const) {
  test(`an alert that may come at any time says nothing of what was read: ${outcome}`, () => {
    const error = etcdError('GET /version', 'https://a:2379', new Error(words), parties);
    assert.deepEqual([error.tls, error.outcome], ['HandshakeFailed', outcome]);
    assert.match(error.message, /do not belong together/);
  });
}

for (const words of [
  'connect ECONNREFUSED 10.0.0.1:2379',
  '14 UNAVAILABLE: Connection dropped',
  '4 DEADLINE_EXCEEDED: Deadline exceeded after 2.0s',
  '14 UNAVAILABLE: etcdserver: request timed out',
]) {
  test(`"${words}" is no TLS problem, nor looks like one`, () => {
    assert.equal(tlsProblemIn(words), undefined);
    assert.equal(mayHideTls(words), false);
  });
}

test('what etcd answers is never taken for a TLS problem', () => {
  const error = etcdError('put', 'https://a:2379', new Error('etcdserver: certificate has expired'), parties);
  assert.deepEqual([error.outcome, error.tls], ['refused', undefined]);
});

test('in plaintext, there is no TLS problem to find in words', () => {
  assert.equal(etcdError('status', 'http://a:2379', new Error('certificate has expired')).tls, undefined);
});

test('without a certificate of ours, the refusal says that there was none', () => {
  const finding = tlsProblemIn(openssl('tlsv13 alert certificate required', 116));
  assert.ok(finding);
  assert.match(sentenceFor(finding, { serverName: 'm0' }), /was given none/);
});

test('what gRPC adds to its words does not make two equal failures differ', () => {
  const at = (time: string) => grpc(`Failed to connect (2026-11-21T06:56:${time}Z)`);
  const [one, two] = ['32.595', '59.001'].map(
    (time) => etcdError('status', 'http://a:2379', new Error(at(time))).message,
  );
  assert.equal(one, two);
  assert.ok(one?.endsWith('Last error: Failed to connect'), one);
});

for (const [problems, together] of [
  [['WrongAuthority', 'WrongAuthority'], 'WrongAuthority'],
  [['WrongAuthority', 'NameMismatch'], undefined],
  [['WrongAuthority', undefined], undefined],
  [[undefined, undefined], undefined],
] as const) {
  test(`endpoints with ${problems.join(' and ')} have ${together ?? 'no single problem'}`, () => {
    const failures = problems.map((tls) => new EtcdError('why', 'down', undefined, tls));
    assert.equal(allFailed('member list', failures).tls, together);
  });
}
