import { execFile } from 'node:child_process';

/** A kubectl that is bound to one cluster. Resolves with what it printed. */
export type Kubectl = (args: readonly string[], options?: KubectlOptions) => Promise<string>;

export interface KubectlOptions {
  /** For `-f -`. */
  readonly stdin?: string;
  /** 60 s if not given. */
  readonly timeoutMilliseconds?: number;
}

/** The message is what kubectl wrote to stderr. */
export class KubectlError extends Error {
  override readonly name = 'KubectlError';
}

export function kubectlFor(binary: string, kubeconfigPath: string): Kubectl {
  return (args, { stdin, timeoutMilliseconds = 60_000 } = {}) =>
    new Promise((resolve, reject) => {
      const options = {
        env: { ...process.env, KUBECONFIG: kubeconfigPath },
        timeout: timeoutMilliseconds,
        maxBuffer: 64 * 1024 * 1024,
      };
      const child = execFile(binary, args, options, (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else reject(new KubectlError(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`));
      });
      // It may end before it has read its input; its exit code tells what there is to know.
      child.stdin?.on('error', () => {});
      child.stdin?.end(stdin);
    });
}
