import { readNode } from '../../../../reconcile/nodes/requests/objects.ts';
import type { Sim } from '../../../../reconcile/nodes/sim-host.ts';
import type { Program } from '../../../../reconcile/requests/program.ts';
import { type Contracts, whenOthersAct } from '../contract.ts';
import type { NodesScene } from './scene.ts';

/** Contracts of requests about nodes. */
export type NodeContracts = Contracts<NodesScene, Sim>;

export function* othersAct(): Program {
  yield* readNode({ name: whenOthersAct });
}
