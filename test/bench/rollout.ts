import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Ended, Rollout } from '../support/rollouts/simulated.ts';
import { aim, table } from './table.ts';

const fleet = {
  clusters: 1000,
  stages: [
    { name: 'canary', clusters: 20, soak: '1h' },
    { name: 'eu', clusters: 280, soak: '30m' },
  ],
  haltAbove: { leaderChanges: 3 },
} as const;
const [canary] = fleet.stages;
/** In ten minutes. Two changes a day of a cluster that is well are far more than real ones have. */
const usual = 2 / 144;

interface Row {
  readonly what: string;
  readonly rollout: Rollout;
  readonly seeds: number;
  /** In words, and whether it held. */
  readonly promise: (all: readonly Ended[]) => readonly [string, boolean];
}

function rowsFor(seeds: number): readonly Row[] {
  const narrow = { ...fleet, maxClustersInProgress: 10 };
  const hurtAtMost = (most: number) => (all: readonly Ended[]) =>
    [`at most ${most} are hurt`, all.every(({ isHalted, hurt }) => hurt <= most && (isHalted || hurt === 0))] as const;
  return [
    {
      what: 'hurts one in fifty: the leader changes every 30 s',
      rollout: { ...narrow, hurts: 0.02, changes: { usual, hurt: 20 } },
      seeds,
      promise: hurtAtMost(narrow.maxClustersInProgress),
    },
    {
      what: 'hurts all a little: the leader changes every 2 min',
      rollout: { ...narrow, hurts: 1, changes: { usual, hurt: 5 } },
      seeds,
      promise: hurtAtMost(canary.clusters),
    },
    {
      what: 'hurts none',
      rollout: { ...fleet, maxClustersInProgress: 100, hurts: 0, changes: { usual, hurt: usual } },
      seeds: Math.ceil(seeds / 10),
      promise: (all) => {
        const halted = all.filter(({ isHalted }) => isHalted).length;
        return [`at most 1 % are halted`, halted <= all.length / 100];
      },
    },
  ];
}

/** Prints how many of a thousand simulated clusters a commit hurts before its rollout halts. */
export async function measureRollouts({ quick }: { readonly quick: boolean }): Promise<void> {
  console.log(
    `${fleet.clusters} simulated clusters of three members: ${canary.clusters} in the first stage; haltAbove: {leaderChanges: ${fleet.haltAbove.leaderChanges}}; reverted an hour after it halts\n`,
  );
  const lines: string[][] = [['a commit that', 'at once', 'seeds', 'halted', 'begun', 'hurt', 'most hurt']];
  const promises: string[] = [];
  for (const { what, rollout, seeds, promise } of rowsFor(quick ? 20 : 1000)) {
    const all = await simulateAll(rollout, seeds);
    const middle = (of: (one: Ended) => number) => String(all.map(of).toSorted((a, b) => a - b)[all.length >> 1]);
    const halted = all.filter(({ isHalted }) => isHalted).length;
    const most = Math.max(...all.map(({ hurt }) => hurt));
    const atOnce = String(rollout.maxClustersInProgress);
    const figures = [String(all.length), String(halted), middle(({ began }) => began), middle(({ hurt }) => hurt)];
    lines.push([what, atOnce, ...figures, String(most)]);
    promises.push(aim(...promise(all)));
  }
  console.log(`${table(lines)}\n\n${promises.join('\n')}`);
}

/** Each seed once, on all processors. */
async function simulateAll(rollout: Rollout, seeds: number): Promise<readonly Ended[]> {
  const threads = availableParallelism();
  const parts = Array.from({ length: threads }, async (_, first) => {
    const own = Array.from({ length: seeds }, (__, seed) => seed).filter((seed) => seed % threads === first);
    const worker = new Worker(join(import.meta.dirname, 'rollout-worker.ts'), { workerData: { rollout, seeds: own } });
    const [all] = (await once(worker, 'message')) as [readonly Ended[]];
    return all;
  });
  return (await Promise.all(parts)).flat();
}
