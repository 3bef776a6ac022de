import type { Answer, Task } from './task.ts';
import { startWorkerQueue, type WorkerEnd, type WorkerLimits, type WorkerQueue } from './worker-queue.ts';

/** `file`: where it was, as far as it is known. */
export type Ended =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly why: WorkerEnd | { readonly kind: 'aborted' }; readonly file: string };

export interface WorkerQueues extends Disposable {
  run(task: Task, signal: AbortSignal): Promise<Ended>;
}

interface Waiting {
  readonly task: Task;
  readonly end: (ended: Ended) => void;
}

/**
 * All tasks share one worker, which is cheapest. A task that holds it up or fills its memory ends it: that task then
 * runs alone, after others of its kind, and the rest begin again in another worker.
 */
export function openWorkerQueues(limits: WorkerLimits): WorkerQueues {
  const waiting = new Map<number, Waiting>();
  const suspects: number[] = [];
  let common: WorkerQueue | undefined;
  let alone: WorkerQueue | undefined;
  let last = 0;
  let isOver = false;

  function answered(id: number, answer: Answer): void {
    waiting.get(id)?.end({ kind: 'answer', answer });
  }

  function shareOne(ids: readonly number[]): void {
    for (const id of ids) {
      const one = waiting.get(id);
      if (!one) continue;
      common ??= startWorkerQueue(limits, {
        onAnswer: answered,
        onEnd: commonEnded,
        mayHoldMost: () => !alone || alone.tasks.size === 0,
      });
      common.begin(id, one.task);
    }
  }

  function commonEnded(why: WorkerEnd, unfinished: readonly number[]): void {
    const { task, file } = common?.place() ?? { task: 0, file: '' };
    common = undefined;
    // It had the worker for itself.
    const [first = 0] = unfinished;
    if (unfinished.length === 1) return void failed(first, why, task === first ? file : '');
    const suspect = unfinished.includes(task) ? task : first;
    suspects.push(suspect);
    shareOne(unfinished.filter((id) => id !== suspect));
    tryNext();
  }

  function tryNext(): void {
    if (alone && alone.tasks.size > 0) return;
    const id = suspects.shift();
    if (id === undefined) return;
    const one = waiting.get(id);
    if (!one) {
      tryNext();
      return;
    }
    alone ??= startWorkerQueue(limits, {
      onAnswer: (answeredId, answer) => {
        answered(answeredId, answer);
        tryNext();
      },
      onEnd: (why, [unfinished = 0]) => {
        failed(unfinished, why, alone?.place().file ?? '');
        leaveAlone();
      },
    });
    alone.begin(id, one.task);
  }

  /** A task that was given up may still block the worker. */
  function leaveAlone(): void {
    alone?.end();
    alone = undefined;
    tryNext();
  }

  function failed(id: number, why: Extract<Ended, { kind: 'failed' }>['why'], file: string): void {
    waiting.get(id)?.end({ kind: 'failed', why, file });
  }

  async function run(task: Task, signal: AbortSignal): Promise<Ended> {
    const id = ++last;
    const { promise, resolve } = Promise.withResolvers<Ended>();
    waiting.set(id, { task, end: resolve });
    const giveUp = () => {
      const queue = [common, alone].find((one) => one?.tasks.has(id));
      const place = queue?.place();
      queue?.cancel(id);
      if (queue && queue === alone) leaveAlone();
      failed(id, { kind: 'aborted' }, place?.task === id ? place.file : '');
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      if (signal.aborted || isOver) giveUp();
      else shareOne([id]);
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
      waiting.delete(id);
    }
  }

  return {
    run,
    [Symbol.dispose]: () => {
      isOver = true;
      common?.end();
      alone?.end();
      for (const id of [...waiting.keys()]) failed(id, { kind: 'aborted' }, '');
    },
  };
}
