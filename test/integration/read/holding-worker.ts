import { parentPort, workerData } from 'node:worker_threads';
import { openProgress } from '../../../functions/read/progress.ts';
import type { ToWorker } from '../../../functions/read/task.ts';

// A thread that takes ever more memory outside of its heap, for a file of the task whose URL says so.
const progress = openProgress(workerData as SharedArrayBuffer);
const held: Buffer[] = [];
parentPort?.on('message', (message: ToWorker) => {
  if (message.kind !== 'begin') return;
  if (!message.task.source.url.includes('holds'))
    return parentPort?.postMessage({ kind: 'ended', id: message.id, answer });
  progress.write(message.id, 'z/bomb.yaml');
  setInterval(() => held.push(Buffer.alloc(8 * 1024 * 1024, 1)), 20);
});
const answer = { kind: 'failed', reason: 'BadAnswer', message: 'it was read' };
setInterval(progress.beat, 20);
parentPort?.postMessage({ kind: 'ready' });
