import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Bytes that a server sends while something is asked of it, headers and all. */
export interface Received extends Disposable {
  /** @param work is given an address that leads to the same server */
  during(work: (url: string) => Promise<unknown>): Promise<number>;
}

export async function countingReceived(url: string): Promise<Received> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  let bytes = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    far.on('data', (chunk) => {
      bytes += chunk.length;
    });
    far.pipe(near).pipe(far);
    for (const socket of [near, far]) {
      open.add(socket);
      // One end that breaks off ends the other.
      socket
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(socket);
          near.destroy();
          far.destroy();
        });
    }
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const own = new URL(url);
  own.port = String((server.address() as AddressInfo).port);
  return {
    during: async (work) => {
      const before = bytes;
      await work(own.href);
      return bytes - before;
    },
    [Symbol.dispose]: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
