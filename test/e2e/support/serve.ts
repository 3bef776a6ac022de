import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from './until.ts';

const checkout = join(import.meta.dirname, '../../..');

export interface Server extends AsyncDisposable {
  readonly url: string;
  /** What it has said so far. */
  log(): string;
  /** Asks it to leave; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts the bundle's server as a process of its own, on a port that is free. */
export async function startServer(env: Readonly<Record<string, string>>): Promise<Server> {
  const child = spawn(process.execPath, [join(checkout, 'dist/serve.js')], {
    env: { ...process.env, PORT: '0', RATCHET_HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const stop = async () => {
    child.kill('SIGTERM');
    const [code] = await exited;
    return code;
  };
  try {
    const port = await until('the server listens', async () => {
      if (child.exitCode !== null) throw new Error(`it exited with ${child.exitCode}`);
      return /"port":(\d+)/.exec(said)?.[1];
    });
    return {
      url: `http://127.0.0.1:${port}`,
      log: () => said,
      stop,
      [Symbol.asyncDispose]: async () => void (await stop()),
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${(error as Error).message}; it said: ${said}`);
  }
}
