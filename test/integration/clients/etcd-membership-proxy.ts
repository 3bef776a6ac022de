import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * What becomes of the answer to a request: none ever comes, and etcd does not hear that nobody waits for it any more,
 * as when the network is parted; or the connection is lost once the answer is on its way.
 */
export type Fate = 'silence' | 'loss';

export interface Interception {
  /** Bytes that only the request holds; they tell it from all others over the same connection. */
  readonly needle: Buffer;
  readonly fate: Fate;
  /** What happens before the request reaches etcd. */
  readonly before?: () => Promise<void>;
}

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** From now on, for the next request that holds it. */
  intercept(interception: Interception): void;
  /** How often that request has been sent on to etcd. */
  seen(): number;
  /** Connections of clients that are open now. */
  open(): number;
}

/** Between a client and one endpoint: etcd hears every request, the client not every answer. */
export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let wanted: Interception | undefined;
  let seen = 0;
  const server = createServer((client) => {
    const etcd = keep(connect({ host: hostname, port: Number(port) }));
    keep(client);
    clients.add(client);
    client.once('close', () => clients.delete(client));
    let heard = Buffer.alloc(0);
    let fate: Fate | undefined;
    let passing = Promise.resolve();
    client.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk]);
      const met = wanted !== undefined && heard.includes(wanted.needle) ? wanted : undefined;
      if (met !== undefined) {
        seen += heard.toString('latin1').split(met.needle.toString('latin1')).length - 1;
        heard = Buffer.alloc(0);
        fate = met.fate;
      }
      const kept = met === undefined && fate === 'silence' ? withoutCancelling(chunk) : chunk;
      // In order, also behind one that waits for something.
      passing = passing.then(async () => {
        await met?.before?.();
        etcd.write(kept);
      });
    });
    etcd.on('data', (chunk: Buffer) => {
      if (fate === undefined) client.write(chunk);
      // Only the client loses it: etcd would cancel what it still works on.
      if (fate === 'loss') client.destroy();
    });
    etcd.once('close', () => client.destroy());
    client.once('close', () => {
      if (fate === undefined) etcd.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intercept: (interception) => {
      wanted = interception;
      seen = 0;
    },
    seen: () => seen,
    open: () => clients.size,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }
}

/** How a member ID stands in a request: protobuf's varint. */
export function inRequest(id: string): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt(`0x${id}`); ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}

/** RST_STREAM and GOAWAY of HTTP/2 left out. What a client says so late is a few small frames, which come whole. */
function withoutCancelling(chunk: Buffer): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < chunk.length; ) {
    const end = at + 9 + chunk.readUIntBE(at, 3);
    const type = chunk[at + 3];
    if (type !== 3 && type !== 7) frames.push(chunk.subarray(at, end));
    at = end;
  }
  return Buffer.concat(frames);
}
