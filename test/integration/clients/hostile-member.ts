import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

const { Writer } = protobuf;

/** A "member" that a tenant made: it answers every call of gRPC with bytes of its choice. */
export interface HostileMember extends AsyncDisposable {
  readonly url: string;
}

type Answer = (stream: ServerHttp2Stream) => void;

const tooLarge = /RESOURCE_EXHAUSTED/;

/** What it can send, and what becomes of the call. */
export const hostileAnswers: Readonly<Record<string, { readonly answer: () => Answer; readonly fails: RegExp }>> = {
  'two million members, compressed to 4 KB': { answer: () => compressed(emptyMembers(2_000_000)), fails: tooLarge },
  'thirty thousand members': { answer: () => plain(emptyMembers(30_000)), fails: /this is no answer of etcd/ },
  'a hundred members': {
    answer: () => plain(emptyMembers(100)),
    fails: /a list of 100 members is no answer|an answer without a header/,
  },
  // Of users and roles there may be as many: these are decoded.
  'a thousand members': {
    answer: () => plain(emptyMembers(1_000)),
    fails: /this is no answer of etcd|an answer without a header/,
  },
  'two million members': { answer: () => plain(emptyMembers(2_000_000)), fails: tooLarge },
  'a member whose name has three megabytes': { answer: () => plain(longName(3_000_000)), fails: tooLarge },
  'a hundred megabytes, compressed': { answer: () => compressed(Buffer.alloc(100_000_000)), fails: tooLarge },
  'a length of four gigabytes, and bytes without end': {
    answer: () => endless(Buffer.alloc(1024 ** 2), framed(Buffer.alloc(0), { length: 0xff_ff_ff_f0 })),
    fails: tooLarge,
  },
  // Frames of five zero bytes. Of one answer, gRPC reads no second message.
  'messages without end': {
    answer: () => endless(Buffer.alloc(100_000)),
    fails: /no answer within 2000 ms/,
  },
};

/** Port 0: any. */
export async function startHostileMember(
  answer: Answer,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<HostileMember> {
  const server = createServer();
  // Each of its sessions has one.
  server.setMaxListeners(0);
  server.on('stream', (stream) => {
    // It was left: that is what is hoped for.
    stream.on('error', () => {});
    answer(stream);
  });
  server.on('session', (session) => server.on('close', () => session.destroy()));
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.emit('close');
    },
  };
}

/** At etcd's own port: takes each connection and never answers. */
export async function startSilentMember(host: string): Promise<AsyncDisposable> {
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
  });
  server.listen(2379, host);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Each is two bytes: the field `members`, of length 0. */
function emptyMembers(count: number): Buffer {
  return Buffer.from('1200'.repeat(count), 'hex');
}

function longName(length: number): Buffer {
  const name = Writer.create().uint32(0x12).fork().uint32(0x12).string('x'.repeat(length)).ldelim();
  return Buffer.from(name.finish());
}

function plain(message: Buffer): Answer {
  return whole(framed(message), {});
}

function compressed(message: Buffer): Answer {
  return whole(framed(gzipSync(message), { flag: 1 }), { 'grpc-encoding': 'gzip' });
}

function whole(frame: Buffer, headers: Readonly<Record<string, string>>): Answer {
  return (stream) => {
    respond(stream, headers);
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(frame);
  };
}

function endless(bytes: Buffer, first: Buffer = Buffer.alloc(0)): Answer {
  return (stream) => {
    respond(stream, {});
    stream.write(first);
    const push = () => {
      if (stream.destroyed) return;
      if (stream.write(bytes)) setImmediate(push);
      else stream.once('drain', push);
    };
    push();
  };
}

function respond(stream: ServerHttp2Stream, headers: Readonly<Record<string, string>>): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto', ...headers }, { waitForTrailers: true });
}

/** gRPC's frame: whether it is compressed, and its length. */
export function framed(message: Buffer, { flag = 0, length = message.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}
