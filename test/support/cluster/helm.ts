import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export type Helm = (args: readonly string[]) => Promise<string>;

/**
 * Helm as a person types it, with nothing of the person who runs the tests: neither their cluster nor their plugins.
 *
 * @param home where it keeps what it keeps
 */
export function helmFor(binary: string, home: string, kubeconfig = '/dev/null'): Helm {
  const env = { PATH: process.env.PATH, HOME: home, KUBECONFIG: kubeconfig };
  return async (args) => {
    const options = { env, maxBuffer: 16 * 1024 * 1024, timeout: 240_000 };
    return (await promisify(execFile)(binary, args, options)).stdout;
  };
}
