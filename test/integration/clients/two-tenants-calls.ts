import { get } from 'node:https';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { noop } from 'cockatiel';
import {
  Etcd3,
  type ILeaseKeepAliveResponse,
  type IOptions,
  type IResponseStream,
  type IWatchRequest,
  type Services,
} from 'etcd3';
import type { IssuedLeaf } from '../../../reconcile/x509/issue.ts';
import type { TlsMember } from './etcd-tls-members.ts';

/** `KV.range`: each method of etcd3's clients. */
type Known = {
  [S in keyof typeof Services]: `${S}.${keyof InstanceType<(typeof Services)[S]> & string}`;
}[keyof typeof Services];

/** Calls without a client in etcd3; RangeStream is new in etcd 3.7. */
export const bare = [
  'etcdserverpb.KV/RangeStream',
  'v3lockpb.Lock/Lock',
  'v3lockpb.Lock/Unlock',
  'v3electionpb.Election/Campaign',
  'v3electionpb.Election/Proclaim',
  'v3electionpb.Election/Leader',
  'v3electionpb.Election/Observe',
  'v3electionpb.Election/Resign',
] as const;
type Bare = (typeof bare)[number];

/** etcd3 has a method for it that fails before it asks: it gets the name of the call wrong. */
export const hashKV = 'etcdserverpb.Maintenance/HashKV';

export type Call = Known | Bare | 'GET /metrics';

export interface Tenant extends AsyncDisposable {
  readonly etcd: Etcd3;
  /** Sends an encoded request, and returns the first answer. */
  send(path: Bare | typeof hashKV, request: Buffer): Promise<Buffer>;
  /** Writes the requests, and returns all answers until then. */
  watch(until: (answers: readonly Answer[]) => boolean, ...requests: readonly IWatchRequest[]): Promise<unknown>;
  keepAlive(ID: string): Promise<ILeaseKeepAliveResponse>;
  snapshot(): Promise<Buffer>;
  /** By HTTP at the same port. */
  get(path: string): Promise<string>;
}

export interface Answer {
  readonly header: { readonly revision: string };
  readonly created: boolean;
  readonly canceled: boolean;
  readonly cancel_reason: string;
  readonly events: readonly { readonly kv: { readonly key: Buffer } }[];
}

export class NoAnswer extends Error {}

/** Milliseconds for a call. */
const patience = 20_000;

export function tenantOf({ url, host }: TlsMember, authority: string, shown: IssuedLeaf): Tenant {
  const [ca, cert, key] = [authority, shown.certificate, shown.key].map((text) => Buffer.from(text));
  if (!ca || !cert || !key) throw new Error('a tenant has a certificate');
  const grpcOptions = { 'grpc.ssl_target_name_override': host };
  const options: IOptions = {
    hosts: url,
    faultHandling: { host: () => noop, global: noop },
    credentials: { rootCertificate: ca, privateKey: key, certChain: cert },
    defaultCallOptions: () => ({ deadline: Date.now() + patience }),
    grpcOptions,
  };
  const etcd = new Etcd3(options);
  // When a stream of etcd3 fails or is cancelled, the client closes all its connections a moment later.
  const alone = async <T>(ask: (one: Etcd3) => Promise<T>) => {
    const one = new Etcd3(options);
    return ask(one).finally(() => one.close());
  };
  const client = new Client(new URL(url).host, credentials.createSsl(ca, key, cert), grpcOptions);
  return {
    etcd,
    send: (path, request) => {
      const same = (bytes: Buffer) => bytes;
      // One answer looks like a stream of one.
      const stream = client.makeServerStreamRequest(`/${path}`, same, same, request, {
        deadline: Date.now() + patience,
      });
      return first<Buffer>(stream).finally(() => stream.cancel());
    },
    watch: (until, ...requests) =>
      alone(async ({ watchClient }) => {
        const stream = await watchClient.watch();
        for (const request of requests) stream.write(request);
        return gathered(stream as unknown as IResponseStream<Answer>, until).finally(() => stream.cancel());
      }),
    keepAlive: (ID) =>
      alone(async ({ leaseClient }) => {
        const stream = await leaseClient.leaseKeepAlive();
        stream.write({ ID });
        return first(stream).finally(() => stream.cancel());
      }),
    snapshot: () => alone(async ({ maintenance }) => (await first(await maintenance.snapshot())).blob),
    get: (path) =>
      new Promise((resolve, reject) => {
        get(`${url}${path}`, { ca, cert, key, servername: host, agent: false }, (response) => {
          response.setEncoding('utf8');
          let text = '';
          response.on('data', (more: string) => {
            text += more;
          });
          response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
        }).on('error', reject);
      }),
    [Symbol.asyncDispose]: async () => {
      etcd.close();
      client.close();
    },
  };
}

function first<T>(stream: IResponseStream<T> | NodeJS.ReadableStream): Promise<T> {
  return gathered<T>(stream as IResponseStream<T>, () => true).then(([answer]) => answer as T);
}

async function gathered<T>(stream: IResponseStream<T>, until: (answers: readonly T[]) => boolean): Promise<T[]> {
  const answers: T[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.on('data', (answer) => {
    answers.push(answer);
    if (until(answers)) resolve();
  });
  stream.on('error', (error: ServiceError | Error) => reject(error));
  stream.on('end', () => reject(new NoAnswer('the stream ended without an answer')));
  await promise;
  return answers;
}

/** A message of protobuf: bytes, texts, messages, and numbers above 0. */
export function message(fields: Readonly<Record<number, string | Buffer | bigint>>): Buffer {
  return Buffer.concat(
    Object.entries(fields).flatMap(([tag, value]) => {
      if (typeof value === 'bigint') return [varint(BigInt(tag) << 3n), varint(value)];
      const bytes = Buffer.from(value as string);
      return [varint((BigInt(tag) << 3n) | 2n), varint(BigInt(bytes.length)), bytes];
    }),
  );
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 128n) return Buffer.from([...bytes, low]);
    bytes.push(low | 0x80);
  }
}
