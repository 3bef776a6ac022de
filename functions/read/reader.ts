import { totalmem } from 'node:os';
import { GitError } from '../../gitops/git/error.ts';
import type { DesiredTree } from '../../reconcile/fleet/reading.ts';
import { fromPlain } from './plain-tree.ts';
import type { Answer, Merged, MergeTask, ReadTask, Task } from './task.ts';
import type { WorkerEnd, WorkerLimits } from './worker-queue.ts';
import type { WorkerQueues } from './worker-queues.ts';

/** Reads repositories in threads: a stranger's bytes cost only their own fleet time and memory. Starts lazily. */
export interface Reader extends Disposable {
  /** @throws GitError, also TooLarge and TakesTooLong with the file that was being read */
  read(task: Omit<ReadTask, 'kind'>, signal: AbortSignal): Promise<DesiredTree>;
  /** @throws GitError */
  merge(task: Omit<MergeTask, 'kind'>, signal: AbortSignal): Promise<Merged>;
}

const defaultLimits: WorkerLimits = {
  stuckMs: 400,
  aloneMs: 8_000,
  heapMiB: 96,
  residentMiB: residentMost(process.constrainedMemory()),
  // In a bundle it is beside this chunk (functions/build.ts).
  program: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './read-worker.js', import.meta.url),
};

/** Four fifths of what the container may have. Where it may have all of the machine, there is no bound. */
export function residentMost(containerBytes: number): number {
  const isBound = containerBytes > 0 && containerBytes < totalmem();
  return isBound ? (containerBytes / 1024 / 1024) * 0.8 : Number.POSITIVE_INFINITY;
}

/** @param onBegun called each time that a thread has taken a task, and this one is free until it answers */
export function createReader(change: Partial<WorkerLimits> = {}, onBegun?: () => void): Reader {
  const limits = { ...defaultLimits, ...change };
  let opened: Promise<WorkerQueues> | undefined;
  let isOver = false;

  async function run(task: Task, signal: AbortSignal): Promise<Answer> {
    // Loaded only where something is read.
    opened ??= import('./worker-queues.ts').then(({ openWorkerQueues }) => openWorkerQueues(limits));
    const queues = await opened;
    if (isOver) queues[Symbol.dispose]();
    const running = queues.run(task, signal);
    onBegun?.();
    const ended = await running;
    if (ended.kind === 'answer') {
      const { answer } = ended;
      if (answer.kind === 'failed') throw new GitError(answer.reason, answer.message);
      return answer;
    }
    throw errorOf(ended, task, limits);
  }

  return {
    read: async (task, signal) => {
      const answer = await run({ kind: 'read', ...task }, signal);
      if (answer.kind !== 'read') throw new Error(`a reading was answered by a ${answer.kind}`);
      return fromPlain(answer.tree);
    },
    merge: async (task, signal) => {
      const answer = await run({ kind: 'merge', ...task }, signal);
      if (answer.kind !== 'merge') throw new Error(`a merge was answered by a ${answer.kind}`);
      const { trees, ...merged } = answer;
      if (trees?.kind !== 'trees') return { ...merged, ...(trees && { trees }) };
      return { ...merged, trees: { kind: 'trees', before: fromPlain(trees.before), after: fromPlain(trees.after) } };
    },
    [Symbol.dispose]: () => {
      isOver = true;
      void opened?.then((queues) => queues[Symbol.dispose]());
    },
  };
}

function errorOf(
  { why, file }: { readonly why: WorkerEnd | { readonly kind: 'aborted' }; readonly file: string },
  { source: { url } }: Task,
  { aloneMs, heapMiB, residentMiB }: WorkerLimits,
): GitError {
  const what = file === '' ? url : `${file} in ${url}`;
  switch (why.kind) {
    case 'stuck':
      return new GitError('TakesTooLong', `${what} takes more than ${aloneMs / 1000} s to be read: split or remove it`);
    case 'out-of-memory': {
      const most =
        why.of === 'thread' ? `${heapMiB} MiB of memory` : `the ${residentMiB.toFixed(0)} MiB that a pass may hold`;
      return new GitError('TooLarge', `${what} takes more than ${most} to be read: split or remove it`);
    }
    case 'crashed':
      return new GitError('BadAnswer', `the thread that read ${what} ended: ${why.message}`);
    case 'aborted':
      return new GitError('Aborted', `gave up reading ${what}: the invocation's time is used up`);
  }
}
