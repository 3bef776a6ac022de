import { parentPort, workerData } from 'node:worker_threads';
import { loadReader } from '../../gitops/git/tree.ts';
import { openProgress } from './progress.ts';
import type { Answer, FromWorker, ToWorker } from './task.ts';
import { createWorkshop } from './work.ts';

/** Milliseconds between two signs of life. */
const beatMs = 100;

const progress = openProgress(workerData as SharedArrayBuffer);
const work = createWorkshop();
const underWay = new Map<number, AbortController>();

function say(message: FromWorker): void {
  parentPort?.postMessage(message);
}

async function begin({ id, task }: Extract<ToWorker, { kind: 'begin' }>): Promise<void> {
  const ending = new AbortController();
  underWay.set(id, ending);
  progress.write(id, '');
  const answer = await work(task, { signal: ending.signal, onFile: (file) => progress.write(id, file) }).catch(
    (error: unknown): Answer => ({ kind: 'failed', reason: 'BadAnswer', message: wordsOf(error) }),
  );
  underWay.delete(id);
  say({ kind: 'ended', id, answer });
}

/** No input should come to that. */
function wordsOf(error: unknown): string {
  const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `the repository cannot be read; this is a bug: ${words.slice(0, 500)}`;
}

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'cancel') underWay.get(message.id)?.abort();
  else void begin(message);
});
setInterval(progress.beat, beatMs).unref();
// Loading takes a moment in which there is no sign of life.
await Promise.all([loadReader(), import('../../gitops/specs/parse.ts')]);
say({ kind: 'ready' });
