import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { openOutlet } from '../support/cluster/bridge.ts';

export interface PodProxy extends AsyncDisposable {
  /** On 127.0.0.1 of the machine, outside the sandbox. */
  readonly port: number;
}

/** Pods of the local cluster have these addresses. */
const ofPod = /^10\.244\.\d{1,3}\.\d{1,3}$/;

/**
 * Takes CONNECT for addresses of pods. `kubectl port-forward` of the playground goes through it (port-forward.ts): the
 * process node has none.
 */
export async function openPodProxy(): Promise<PodProxy> {
  const open = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '' }, near: Socket) => {
    const [host = '', port = ''] = url.split(':');
    if (!ofPod.test(host)) return void near.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const far = connect({ host, port: Number(port) });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.once('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.on('error', () => other.destroy());
    }
    far.once('connect', () => {
      near.write('HTTP/1.1 200 OK\r\n\r\n');
      near.pipe(far).pipe(near);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  try {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const outlet = await openOutlet({ host: '127.0.0.1', port });
    return {
      port: outlet.port,
      async [Symbol.asyncDispose]() {
        await outlet[Symbol.asyncDispose]();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
