import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what Linux gives to connections (from 32768 on): one of those would soon be taken by the next connection. */
const [first, end] = [20_000, 30_000];
const attempts = 100;

/** A free port for a program, apart from those that others got. @throws when so many are taken that none is found */
export async function freePort(host = '127.0.0.1', others: readonly number[] = []): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(first, end);
    if (!others.includes(port) && (await isFree(host, port))) return port;
  }
  throw new Error(`no port of ${host} from ${first} to ${end - 1} was free in ${attempts} attempts`);
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
