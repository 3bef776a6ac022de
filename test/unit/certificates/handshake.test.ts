import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, createServer } from 'node:tls';
import { createAuthority, type IssuedLeaf, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { peerPlan, serverPlan } from './forge.ts';

/** Real handshakes on loopback, by the real clock: what a cross certificate is worth during a rotation. */

const hour = 3_600_000;
const notBefore = new Date(Date.now() - hour);
const validity = { notBefore, notAfter: new Date(Date.now() + 24 * hour) };
const old = await createAuthority({ commonName: 'test CA', ...validity });
const next = await createAuthority({ commonName: 'test CA', ...validity, previous: old });
const { cross: _, ...uncrossed } = next;

const leafOf = {
  'a leaf of the old CA': await issueLeaf(serverPlan, old, validity),
  'a leaf of the new CA with its cross certificate': await issueLeaf(serverPlan, next, validity),
  'a leaf of the new CA alone': await issueLeaf(serverPlan, uncrossed, validity),
};
const trustIn = {
  'only the old CA': old.certificate,
  'only the new CA': next.certificate,
  'both CAs': next.certificate + old.certificate,
};

/** Which of them depends on whether the other end sent its root along. */
const refusals = /UNABLE_TO_(GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|SELF_SIGNED_CERT_IN_CHAIN/;

type Shown = keyof typeof leafOf;
type Trusted = keyof typeof trustIn;

const verified: Readonly<Record<Shown, readonly Trusted[]>> = {
  'a leaf of the old CA': ['only the old CA', 'both CAs'],
  'a leaf of the new CA with its cross certificate': ['only the old CA', 'only the new CA', 'both CAs'],
  'a leaf of the new CA alone': ['only the new CA', 'both CAs'],
};

for (const shown of Object.keys(leafOf) as Shown[]) {
  for (const trusted of Object.keys(trustIn) as Trusted[]) {
    const good = verified[shown].includes(trusted);

    test(`a server with ${shown} is ${good ? 'verified' : 'refused'} by a client that trusts ${trusted}`, async () => {
      const answer = handshake(
        { leaf: leafOf[shown], ca: old.certificate },
        { leaf: leafOf['a leaf of the old CA'], ca: trustIn[trusted] },
      );
      if (good) assert.equal(await answer, 'c-0 verified');
      else await assert.rejects(answer, { code: refusals });
    });

    test(`a client with ${shown} is ${good ? 'verified' : 'refused'} by a server that trusts ${trusted}`, async () => {
      const answer = handshake(
        { leaf: leafOf['a leaf of the old CA'], ca: trustIn[trusted] },
        { leaf: leafOf[shown], ca: old.certificate },
      );
      assert.match(await answer, good ? /^c-0 verified$/ : refusals);
    });
  }
}

test('a member is refused under a name that is not in its leaf', async () => {
  const end = { leaf: await issueLeaf(peerPlan, old, validity), ca: old.certificate };
  await assert.rejects(handshake(end, end, 'localhost'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  assert.equal(await handshake(end, end), 'c-0 verified');
});

interface End {
  readonly leaf: IssuedLeaf;
  readonly ca: string;
}

/**
 * A client with a certificate, and a server that asks for it.
 *
 * @returns the client's common name and what the server's verification said of it
 * @throws what the client's verification said of the server
 */
async function handshake(server: End, client: End, servername = serverPlan.dnsNames[0] ?? ''): Promise<string> {
  const signal = AbortSignal.timeout(10_000);
  const listener = createServer({
    cert: server.leaf.certificate,
    key: server.leaf.key,
    ca: server.ca,
    requestCert: true,
    // Verified all the same; only so can the refusal be told instead of a reset connection.
    rejectUnauthorized: false,
  });
  listener.on('secureConnection', (socket) => {
    const { subject } = socket.getPeerCertificate();
    socket.on('error', () => socket.destroy());
    socket.end(`${subject.CN} ${socket.authorized ? 'verified' : socket.authorizationError}`);
  });
  // The client is the one that hears of it.
  listener.on('tlsClientError', (_error, socket) => socket.destroy());
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening', { signal });
  const { port } = listener.address() as AddressInfo;
  const { certificate: cert, key } = client.leaf;
  const socket = connect({ host: '127.0.0.1', port, servername, cert, key, ca: client.ca });
  try {
    let heard = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    await once(socket, 'end', { signal });
    return heard;
  } finally {
    socket.destroy();
    listener.close();
  }
}
