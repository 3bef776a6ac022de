import { parentPort } from 'node:worker_threads';
import { run } from './run.ts';
import type { Task } from './task.ts';

/** Searches one scenario after the other, as it is told. */
parentPort?.on('message', (task: Task) => parentPort?.postMessage(run(task)));
