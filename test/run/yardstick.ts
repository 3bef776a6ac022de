import { createHash } from 'node:crypto';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { median } from '../bench/measure.ts';
import type { Metered, Pace } from './shares.ts';

/**
 * How fast the machine is while it runs tests. Two of the machines that run these differ by three times, and one of
 * them by twice from day to day: seconds of processors say nothing without what a known piece of work takes there.
 */
export interface Yardstick {
  /** Measures for this room from now on: the same machine is slower in some minutes than in others. */
  enter(room: Metered): void;
  end(): Promise<Pace>;
}

const everyMs = 20_000;

/**
 * Seconds of processors on that machine, beside a run of ring 1. Found by comparison: where the work took 0.25 s, 105
 * test files took 1.45 times, at the median, what test/run/measured.json says.
 */
const secondsThere = 0.172;

/** Measures at once, and every 20 s until its end, in a thread of its own: that takes a fiftieth of a processor. */
export function takeYardstick(take = measureOnce): Yardstick {
  const seconds: { readonly room: Metered; readonly taken: Promise<number | undefined> }[] = [];
  let current: Metered = 'start';
  // A measurement that fails must end no run, and excuse none.
  const measure = () => seconds.push({ room: current, taken: take().catch(() => undefined) });
  measure();
  const timer = setInterval(measure, everyMs).unref();
  return {
    enter(room) {
      current = room;
      measure();
    },
    async end() {
      clearInterval(timer);
      const all = await Promise.all(seconds.map(async ({ room, taken }) => ({ room, seconds: await taken })));
      const measured = all.flatMap(({ room, seconds }) => (seconds === undefined ? [] : [{ room, seconds }]));
      return (rooms) => {
        const inRooms = measured.filter(({ room }) => rooms.includes(room));
        const used = inRooms.length > 0 ? inRooms : measured;
        return used.length === 0 ? 1 : median(used, ({ seconds }) => seconds).seconds / secondsThere;
      };
    },
  };
}

function measureOnce(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const worker = new Worker(new URL(import.meta.url));
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', (code) => reject(new Error(`the yardstick ended with ${code}`)));
  return promise;
}

/** Objects, strings, maps and hashes, as tests have them. */
function work(): number {
  const hash = createHash('sha256');
  const found = new Map<string, number>();
  for (let round = 0; round < 160; round += 1) {
    const objects = Array.from({ length: 2000 }, (_, index) => ({ name: `orders-${index}`, index, labels: { round } }));
    const text = JSON.stringify(objects);
    hash.update(text);
    for (const { name, index } of JSON.parse(text) as typeof objects) found.set(name, (found.get(name) ?? 0) + index);
  }
  return hash.digest().readUInt8() + found.size;
}

if (!isMainThread && parentPort) {
  // The first round is compiled while it runs, and takes longer.
  work();
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  parentPort.postMessage((user + system) / 1e6);
}
