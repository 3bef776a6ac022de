import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { connectKube } from '../../reconcile/clients/kube.ts';
import { type Gap, startKnowingWriter } from '../e2e/support/knowing-writer.ts';

/**
 * The knowing writer in a process of its own. The bench's own process is the nodes as well, and stands still for some
 * hundredths of a second whenever it starts a pod: a writer in it would measure that.
 */

/** Since this was last asked. */
export interface WriterReport {
  readonly gap: Gap;
  readonly acknowledged: number;
  /**
   * The longest time, in milliseconds, for which the writer's own process did not get to run: the machine's part in a
   * gap.
   */
  readonly stall: number;
}

export interface WriterProcess {
  report(): Promise<WriterReport>;
  /** Stops writing and reads everything back. */
  finish(): Promise<{ readonly acknowledged: number; readonly lost: number }>;
}

interface Setting {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly name: string;
  readonly prefix: string;
}

/** Resolves when it writes. @throws when the process ends before it has answered. */
export async function startWriterProcess(setting: Setting): Promise<WriterProcess> {
  const child = fork(import.meta.filename, [JSON.stringify(setting)]);
  await answer<'writing'>(child);
  const ask = <T>(question: 'report' | 'finish'): Promise<T> => {
    child.send(question);
    return answer<T>(child);
  };
  return {
    report: () => ask<WriterReport>('report'),
    finish: () => ask('finish'),
  };
}

async function answer<T>(child: ChildProcess): Promise<T> {
  const gone = new AbortController();
  try {
    const ended = once(child, 'exit', { signal: gone.signal }).then(([code, signal]) => {
      throw new Error(`the writer's process has ended (${code ?? signal})`);
    });
    const [message] = await Promise.race([once(child, 'message', { signal: gone.signal }), ended]);
    return message as T;
  } finally {
    gone.abort();
  }
}

async function write({ kubeconfig, namespace, name, prefix }: Setting): Promise<void> {
  const kube = await connectKube({ userAgent: 'bench/0', kubeconfig });
  const writer = await startKnowingWriter(kube, { namespace, name }, prefix);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  process.on('message', async (question) => {
    if (question === 'report') {
      process.send?.({ gap: writer.gap(), acknowledged: writer.acknowledged, stall: delay.max / 1e6 });
      delay.reset();
      return;
    }
    process.send?.(await writer.finish());
    delay.disable();
    kube.close();
    process.disconnect();
  });
  process.send?.('writing');
}

if (import.meta.main) await write(JSON.parse(process.argv[2] ?? '') as Setting);
