import { Worker } from 'node:worker_threads';
import { openProgress } from './progress.ts';
import type { Answer, FromWorker, Task, ToWorker } from './task.ts';

export type WorkerEnd =
  /** It did not come to anything else for too long. */
  | { readonly kind: 'stuck' }
  | { readonly kind: 'out-of-memory'; readonly of: 'thread' | 'process' }
  | { readonly kind: 'crashed'; readonly message: string };

export interface WorkerLimits {
  /** Milliseconds without a sign of life while other tasks wait in the same worker, */
  readonly stuckMs: number;
  /** and while one has it for itself. */
  readonly aloneMs: number;
  readonly heapMiB: number;
  /** Of the process: buffers are outside of heaps. With more than that, the thread ends before the container does. */
  readonly residentMiB: number;
  readonly program: URL;
}

export interface WorkerQueue {
  readonly tasks: ReadonlySet<number>;
  begin(id: number, task: Task): void;
  cancel(id: number): void;
  /** Where the worker is, or was at last. */
  place(): { readonly task: number; readonly file: string };
  end(): void;
}

export interface WorkerEvents {
  onAnswer(id: number, answer: Answer): void;
  /** The queue is over; these tasks have no answer. */
  onEnd(end: WorkerEnd, unfinished: readonly number[]): void;
  /** Whether what the process holds may be this thread's. Absent: it may. */
  readonly mayHoldMost?: () => boolean;
}

/** Memory of a thread that ended goes a little later, and a reader needs some of its own. */
const ownMiB = 48;

const lookMs = 50;

export function startWorkerQueue(
  { stuckMs, aloneMs, heapMiB, residentMiB, program }: WorkerLimits,
  { onAnswer, onEnd, mayHoldMost = () => true }: WorkerEvents,
): WorkerQueue {
  const progress = openProgress();
  const tasks = new Set<number>();
  const worker = new Worker(program, {
    workerData: progress.memory,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  let isOver = false;
  let isReady = false;
  let beats = 0;
  let silentMs = 0;
  let looked = performance.now();
  const mostMiB = Math.max(residentMiB, residentNow() + ownMiB);

  const looking = setInterval(() => {
    const now = performance.now();
    // Where this very thread was held up, the worker is not to blame.
    const passed = Math.min(now - looked, 2 * lookMs);
    looked = now;
    const { beats: current } = progress.read();
    silentMs = current === beats && isReady ? silentMs + passed : 0;
    beats = current;
    if (tasks.size > 0 && mayHoldMost() && residentNow() > mostMiB) over({ kind: 'out-of-memory', of: 'process' });
    if (tasks.size > 0 && silentMs > (tasks.size > 1 ? stuckMs : aloneMs)) over({ kind: 'stuck' });
  }, lookMs);
  looking.unref();

  function over(why: WorkerEnd | undefined): void {
    if (isOver) return;
    isOver = true;
    clearInterval(looking);
    void worker.terminate();
    if (why) onEnd(why, [...tasks]);
  }

  worker.on('message', (message: FromWorker) => {
    if (isOver) return;
    if (message.kind === 'ready') isReady = true;
    else {
      tasks.delete(message.id);
      // An idle worker keeps no process alive.
      if (tasks.size === 0) worker.unref();
      onAnswer(message.id, message.answer);
    }
  });
  worker.on('error', (error: NodeJS.ErrnoException) =>
    over(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? { kind: 'out-of-memory', of: 'thread' }
        : { kind: 'crashed', message: error.message },
    ),
  );
  worker.on('exit', (code) => over({ kind: 'crashed', message: `the thread ended with ${code}` }));

  return {
    tasks,
    begin: (id, task) => {
      tasks.add(id);
      worker.ref();
      worker.postMessage({ kind: 'begin', id, task } satisfies ToWorker);
    },
    cancel: (id) => {
      tasks.delete(id);
      if (tasks.size === 0) worker.unref();
      worker.postMessage({ kind: 'cancel', id } satisfies ToWorker);
    },
    place: progress.read,
    end: () => over(undefined),
  };
}

function residentNow(): number {
  return process.memoryUsage.rss() / 1024 / 1024;
}
