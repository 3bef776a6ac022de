import { connect, createServer } from 'node:net';
import type { Forwarded } from './command.ts';

interface Target {
  readonly host: string;
  readonly port: number;
}

/** Milliseconds until an address is taken to lead nowhere from here. */
const patience = 1_000;

/** Whether something takes connections there. */
export function leads(to: Target): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ...to, timeout: patience });
    const end = (isReached: boolean) => {
      socket.destroy();
      resolve(isReached);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

/** As a forward, in this process: one kind of endpoint, however it leads there. */
export async function relay(to: Target): Promise<Forwarded> {
  const open = new Set<{ destroy(): void }>();
  const server = createServer((near) => {
    const far = connect(to);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.once('close', () => open.delete(one));
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    [Symbol.dispose]: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
