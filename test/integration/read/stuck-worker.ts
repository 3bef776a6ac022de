import { parentPort, workerData } from 'node:worker_threads';
import { openNote } from '../../../functions/read/note.ts';
import type { ToWorker } from '../../../functions/read/task.ts';

// A thread that is at a file for ever.
const note = openNote(workerData as SharedArrayBuffer);
parentPort?.on('message', (message: ToWorker) => {
  if (message.kind !== 'begin') return;
  note.write(message.id, 'z/bomb.yaml');
  parentPort?.postMessage({ kind: 'ready' });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
