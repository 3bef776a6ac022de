/** Certificates and tokens at the HTTP gateway of real etcd of each minor, with authentication off and on. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Etcd3 } from 'etcd3';
import { clusterLeaves, gatewayLeaf } from '../../../manifests/render/certificate-names.ts';
import { type IssuedLeaf, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { type Answer, ask } from '../../e2e/support/wire.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { authority, clientLeaf, leaf, startTlsMembers, type TlsMember } from './etcd-tls-members.ts';

const { etcd: binaries } = await provisionBinaries();
const clients = await authority('clients');
const [, application] = clusterLeaves('orders');
const day = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 86_400_000) };
const user = { name: 'app', password: 'of-app' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const put = { path: '/v3/kv/put', body: { key: base64('k'), value: base64('v') } };
const read = { path: '/v3/kv/range', body: { key: base64('k') } };
const logIn = { path: '/v3/auth/authenticate', body: user };

interface Asked {
  readonly path: string;
  readonly body: object;
}

function through(
  { address, host }: TlsMember,
  { path, body }: Asked,
  shown?: IssuedLeaf,
  token?: string,
): Promise<Answer> {
  const own = shown && { cert: shown.certificate, key: shown.key };
  const tls = { serverName: host, ca: clients.certificate, ...own };
  return ask({ host: address, port: 2379, path, body: JSON.stringify(body), tls, ...(token && { token }) });
}

function statusOf(answer: Answer): number | string {
  return 'status' in answer ? answer.status : answer.refused;
}

for (const version of etcdVersions) {
  test(`etcd ${version}: with authentication on, its gateway takes only a client without a name`, async () => {
    await using cluster = await startTlsMembers(binaries[version], 1, clients);
    const [member] = cluster.members;
    const named = await leaf(clients, application);
    const nameless = await issueLeaf(gatewayLeaf({ namespace: 'payments', cluster: 'orders' }), clients, day);
    for (const shown of [named, nameless]) assert.equal(statusOf(await through(member, put, shown)), 200);
    await withUsers(member);

    for (const asked of [logIn, read]) {
      const answer = await through(member, asked, named);
      assert.equal(statusOf(answer), 400, asked.path);
      assert.match('body' in answer ? answer.body : '', /^CommonName of client sending a request against gateway/);
    }
    const said = await through(member, logIn, nameless);
    const { token } = JSON.parse('body' in said ? said.body : assert.fail(said.refused)) as { token: string };
    for (const header of [token, `Bearer ${token}`]) {
      const answer = await through(member, read, nameless, header);
      assert.ok('body' in answer && answer.body.includes(base64('v')), JSON.stringify(answer));
    }
    assert.equal(statusOf(await through(member, read, named, token)), 400, 'a token is of no help to a name');
    assert.equal(statusOf(await through(member, read, nameless)), 403, 'without a token it is no user');
    assert.equal(statusOf(await through(member, read, nameless, 'other.1')), 401);
    assert.match(String(statusOf(await through(member, read, undefined, token))), /certificate required/);
  });

  test(`etcd ${version}: a client without a name is no user over gRPC either`, async () => {
    await using cluster = await startTlsMembers(binaries[version], 1, clients);
    const [member] = cluster.members;
    await withUsers(member);
    const nameless = await issueLeaf(gatewayLeaf({ namespace: 'payments', cluster: 'orders' }), clients, day);
    const without = overGrpc(member, nameless);
    await assert.rejects(async () => without.get('k'), /permission denied|user name is empty/);
    without.close();
  });
}

function overGrpc({ url, host }: TlsMember, { certificate, key }: IssuedLeaf): Etcd3 {
  const credentials = {
    rootCertificate: Buffer.from(clients.certificate),
    privateKey: Buffer.from(key),
    certChain: Buffer.from(certificate),
  };
  const grpcOptions = { 'grpc.ssl_target_name_override': host };
  return new Etcd3({ hosts: url, credentials, grpcOptions });
}

/** As an admin does it: root, which etcd demands, and one with a password. */
async function withUsers(member: TlsMember): Promise<void> {
  const etcd = overGrpc(member, await clientLeaf(clients));
  for (const { name, password } of [{ name: 'root', password: 'of-root' }, user]) {
    await etcd.user(name).create(password);
    await etcd.user(name).addRole('root');
  }
  await etcd.auth.authEnable();
  etcd.close();
}
