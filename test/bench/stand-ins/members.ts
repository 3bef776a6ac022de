import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createRequire } from 'node:module';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, createServer as createTlsServer, type SecureContext, type TLSSocket } from 'node:tls';
import type { PersistentVolumeClaim, Secret } from '../../../manifests/kube-types.ts';
import { memberSecretName } from '../../../manifests/render/certificate-names.ts';
import { parseInitialCluster } from '../../../manifests/render/initial-cluster.ts';
import { annotations, ports } from '../../../manifests/render/names.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { framed } from '../../integration/clients/hostile-member.ts';

/** What one of them is, by the name that TLS asks for: `<pod>.<headless service>.<namespace>.svc`. */
interface Member {
  readonly id: string;
  readonly clusterId: string;
  readonly members: readonly { readonly id: string; readonly name: string; readonly peerURLs: readonly string[] }[];
}

interface Method {
  readonly path: string;
  responseSerialize(message: object): Buffer;
}

const version = '3.6.16';

/**
 * Answers at every local address as members do that are well and have nothing to do: the member list, the status, no
 * alarm, its version, its health, and with the certificates of its Secrets. One process for all: what it takes is not
 * what etcd takes.
 */
export async function startStandInMembers(kube: Kube): Promise<AsyncDisposable> {
  const members = new Map<string, Promise<Member>>();
  const contexts = new Map<string, Promise<SecureContext>>();
  const memberAt = (server: string) => kept(members, server, () => readMember(kube, placeOf(server)));
  const contextOf = (purpose: 'peer' | 'server') => (server: string, done: SniDone) => {
    const found = kept(contexts, `${purpose} ${server}`, () => readContext(kube, placeOf(server), purpose));
    found.then((context) => done(null, context), done);
  };
  const answers = await readAnswers();

  const client = createSecureServer({ allowHTTP1: true, requestCert: true, SNICallback: contextOf('server') });
  client.on('request', (request, response) => {
    if (request.httpVersionMajor === 1)
      return response.end(JSON.stringify({ etcdserver: version, etcdcluster: '3.6.0' }));
    const { servername } = request.socket as TLSSocket;
    const answer = answers.get(request.url ?? '');
    if (typeof servername !== 'string' || !answer) return response.writeHead(404).end();
    memberAt(servername).then(
      (member) => {
        response.writeHead(200, { 'content-type': 'application/grpc+proto' });
        response.addTrailers({ 'grpc-status': '0' });
        response.end(framed(answer(member)));
      },
      () => response.writeHead(503).end(),
    );
  });
  const peer = createTlsServer({ SNICallback: contextOf('peer') }, (socket) => socket.on('error', () => {}));
  const metrics = createServer((_, response) => response.end('{"health":"true","reason":""}'));

  const servers: readonly (readonly [Server, number])[] = [
    [client as unknown as Server, ports.client],
    [peer, ports.peer],
    [metrics, ports.metrics],
  ];
  for (const [server, port] of servers) {
    server.on('tlsClientError', () => {});
    server.listen(port, '0.0.0.0');
    await once(server, 'listening');
  }
  return {
    async [Symbol.asyncDispose]() {
      for (const [server] of servers) server.close();
    },
  };
}

type SniDone = (error: Error | null, context?: SecureContext) => void;

interface Place {
  readonly namespace: string;
  readonly peer: string;
}

function placeOf(server: string): Place {
  const [pod = '', , namespace = ''] = server.split('.');
  return { namespace, peer: pod.replace(/-0$/, '') };
}

async function readMember(kube: Kube, { namespace, peer }: Place): Promise<Member> {
  const claim = await kube.get<PersistentVolumeClaim>(resources.volumeClaims, namespace, peer);
  const text = claim?.metadata.annotations?.[annotations.initialCluster] ?? '';
  const parsed = parseInitialCluster(text);
  if ('problem' in parsed) throw new Error(`${namespace}/${peer}: ${parsed.problem}`);
  const members = parsed.members.map(({ name, url }) => ({ id: idOf(url), name, peerURLs: [url] }));
  return { id: members.find(({ name }) => name === peer)?.id ?? assert.fail(peer), clusterId: idOf(text), members };
}

async function readContext(kube: Kube, { namespace, peer }: Place, purpose: 'peer' | 'server'): Promise<SecureContext> {
  const { data = {} } =
    (await kube.get<Secret>(resources.secrets, namespace, memberSecretName(peer, purpose))) ?? assert.fail(peer);
  const item = (key: string) => Buffer.from(data[key] ?? '', 'base64');
  return createSecureContext({ cert: item('tls.crt'), key: item('tls.key'), ca: item('ca.crt') });
}

/** What each call is answered with, by its path. */
async function readAnswers(): Promise<ReadonlyMap<string, (member: Member) => Buffer>> {
  const etcd3 = createRequire(createRequire(import.meta.url).resolve('etcd3'));
  const { loadSync } = etcd3('@grpc/proto-loader') as {
    loadSync(file: string, options: object): Readonly<Record<string, Readonly<Record<string, Method>>>>;
  };
  const file = join(etcd3.resolve('etcd3'), '../../proto/rpc.proto');
  const services = loadSync(file, { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true });
  const methods = new Map(
    Object.values(services).flatMap((one) => Object.values(one).map((method) => [method.path, method])),
  );
  const head = ({ clusterId, id }: Member) => ({
    cluster_id: clusterId,
    member_id: id,
    revision: '100',
    raft_term: '2',
  });
  const bodies: Readonly<Record<string, (member: Member) => object>> = {
    'Cluster/MemberList': (member) => ({
      header: head(member),
      members: member.members.map(({ id, name, peerURLs }) => ({ ID: id, name, peerURLs, clientURLs: peerURLs })),
    }),
    'Maintenance/Alarm': (member) => ({ header: head(member), alarms: [] }),
    'Maintenance/Status': (member) => ({
      header: head(member),
      version,
      dbSize: '25600',
      dbSizeInUse: '20480',
      leader: member.members[0]?.id,
      raftIndex: '200',
      raftAppliedIndex: '200',
      raftTerm: '2',
      errors: [],
      isLearner: false,
    }),
  };
  return new Map(
    Object.entries(bodies).map(([call, body]) => {
      const path = `/etcdserverpb.${call}`;
      const method = methods.get(path) ?? assert.fail(path);
      return [path, (member: Member) => method.responseSerialize(body(member))];
    }),
  );
}

function idOf(text: string): string {
  return createHash('sha256').update(text).digest().readBigUInt64BE().toString();
}

function kept<T>(all: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const found = all.get(key) ?? read();
  all.set(key, found);
  // Not there yet: asked again.
  found.catch(() => all.delete(key));
  return found;
}
