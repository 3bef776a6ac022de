import { readFileSync } from 'node:fs';
import type { ContainerProcess } from './container.ts';
import type { ContainerRecord } from './container-record.ts';
import { parseQuantity } from './quantity.ts';

/** A cgroup's limit holds at once. Nothing that a test starts with one takes so much in less time. */
const everyMs = 100;

/**
 * Ends a container whose program holds more than its memory limit, or than a fault lets it have, as the kernel does:
 * SIGKILL, with `OOMKilled` as the reason. Only what can't be written back counts; of the program itself, not of its
 * children.
 */
export function holdMemoryLimit(record: ContainerRecord, running: ContainerProcess): void {
  const timer = setInterval(() => {
    const limit = record.squeezedTo ?? memoryLimitOf(record);
    const held = limit === undefined ? undefined : heldBy(running.pid);
    if (limit === undefined || held === undefined || held <= limit) return;
    record.outOfMemory = true;
    running.signal('SIGKILL');
  }, everyMs);
  timer.unref();
  void running.exited.then(() => clearInterval(timer));
}

/** Bytes; undefined where its spec gives none. */
export function memoryLimitOf({ spec }: Pick<ContainerRecord, 'spec'>): number | undefined {
  const limit = spec.resources?.limits?.memory;
  return limit === undefined ? undefined : parseQuantity(limit);
}

/** Bytes; undefined when the process has just ended. */
function heldBy(pid: number): number | undefined {
  try {
    const kilobytes = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
