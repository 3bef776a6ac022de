import { parentPort, workerData } from 'node:worker_threads';
import { chanceFrom } from '../explore/chance.ts';
import { type Rollout, simulate } from '../support/rollouts/simulated.ts';

const { rollout, seeds } = workerData as { readonly rollout: Rollout; readonly seeds: readonly number[] };
parentPort?.postMessage(seeds.map((seed) => simulate(rollout, chanceFrom(seed))));
