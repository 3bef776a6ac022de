import { execFile } from 'node:child_process';

export type Helm = (args: readonly string[]) => Promise<string>;

/**
 * Helm as a person types it, with nothing of the person who runs the tests: neither their cluster nor their plugins.
 *
 * @param home where it keeps what it keeps
 */
export function helmFor(binary: string, home: string, kubeconfig = '/dev/null'): Helm {
  const env = { PATH: process.env.PATH, HOME: home, KUBECONFIG: kubeconfig };
  return (args) =>
    new Promise((resolve, reject) => {
      execFile(binary, args, { env, maxBuffer: 16 * 1024 * 1024, timeout: 240_000 }, (error, stdout, stderr) => {
        // Without the command line: a test that looks for a word in an answer would find it there.
        if (error) reject(new Error(`helm ${args[0]} (${error.code ?? error.signal}): ${stderr || stdout}`));
        else resolve(stdout);
      });
    });
}
