import { parentPort, workerData } from 'node:worker_threads';
import { openProgress } from '../../../functions/read/progress.ts';
import type { ToWorker } from '../../../functions/read/task.ts';

// A thread that is at a file for ever.
const progress = openProgress(workerData as SharedArrayBuffer);
parentPort?.on('message', (message: ToWorker) => {
  if (message.kind !== 'begin') return;
  progress.write(message.id, 'z/bomb.yaml');
  parentPort?.postMessage({ kind: 'ready' });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
