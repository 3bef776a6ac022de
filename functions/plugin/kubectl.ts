import { execFile } from 'node:child_process';
import { type Common, type Kubectl, Refusal } from './command.ts';

const program = 'kubectl';

/** With the same kubeconfig and context. */
export function kubectlOf({ kubeconfig, context }: Pick<Common, 'kubeconfig' | 'context'>): Kubectl {
  const access = accessOf({ kubeconfig, context });
  return {
    text: (args, { signal, milliseconds, mostBytes }) =>
      new Promise((resolve, reject) => {
        const limits = { timeout: milliseconds, maxBuffer: mostBytes, signal };
        execFile(program, [...access, ...args], limits, (error, stdout, stderr) =>
          error ? reject(new Refusal(lastWords(args, error, stderr), { cause: error })) : resolve(stdout),
        );
      }),
  };
}

function accessOf({ kubeconfig, context }: { kubeconfig?: string | undefined; context?: string | undefined }) {
  return [...(kubeconfig ? [`--kubeconfig=${kubeconfig}`] : []), ...(context ? [`--context=${context}`] : [])];
}

function lastWords(args: readonly string[], error: Error & { code?: unknown }, stderr: string): string {
  if (error.code === 'ENOENT') return 'there is no kubectl on PATH';
  const last = stderr.trim().split('\n').at(-1);
  return `kubectl ${args[0]} failed: ${last || error.message.split('\n', 1)[0]}`;
}
