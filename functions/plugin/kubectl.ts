import { execFile, spawn } from 'node:child_process';
import { type Common, type Forwarded, type Kubectl, type PodPort, Refusal } from './command.ts';
import { leads, relay } from './relay.ts';

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
    forward: async (to, signal) => {
      const { address: host, port } = to;
      if (host !== undefined && (await leads({ host, port }))) return relay({ host, port });
      return forward([...access, '-n', to.namespace], to, signal);
    },
  };
}

/** Milliseconds until it must lead there. */
const patience = 10_000;

function forward(access: readonly string[], { pod, port }: PodPort, signal: AbortSignal): Promise<Forwarded> {
  const args = [...access, 'port-forward', `pod/${pod}`, `:${port}`, '--address', '127.0.0.1'];
  // Of a group of its own: Ctrl-C in a shell that uses it must not end it.
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { promise, resolve, reject } = Promise.withResolvers<Forwarded>();
  const end = () => void child.kill();
  const fail = (words: string) => {
    end();
    reject(new Refusal(`pod ${pod} can't be reached by kubectl port-forward: ${words}`));
  };
  let [said, complaint] = ['', ''];
  const late = setTimeout(() => fail(complaint.trim() || `not within ${patience / 1000} s`), patience);
  const stopped = () => fail('stopped');
  signal.addEventListener('abort', stopped, { once: true });
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk}`.slice(-1000);
  });
  child.stdout.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-1000);
    const [, local] = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(said) ?? [];
    if (local !== undefined) resolve({ port: Number(local), [Symbol.dispose]: end });
  });
  child.once('error', (error: NodeJS.ErrnoException) => fail(lastWords(['port-forward'], error, '')));
  child.once('exit', () => fail(complaint.trim().split('\n').at(-1) || 'it ended'));
  return promise.finally(() => {
    clearTimeout(late);
    signal.removeEventListener('abort', stopped);
  });
}

function accessOf({ kubeconfig, context }: { kubeconfig?: string | undefined; context?: string | undefined }) {
  return [...(kubeconfig ? [`--kubeconfig=${kubeconfig}`] : []), ...(context ? [`--context=${context}`] : [])];
}

function lastWords(args: readonly string[], error: Error & { code?: unknown }, stderr: string): string {
  if (error.code === 'ENOENT') return 'there is no kubectl on PATH';
  const last = stderr.trim().split('\n').at(-1);
  return `kubectl ${args[0]} failed: ${last || error.message.split('\n', 1)[0]}`;
}
