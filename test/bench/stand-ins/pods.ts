import { build } from '../../../functions/build.ts';
import type { Kwok } from '../../support/cluster/tools.ts';
import { enterServiceAccount, fillCompileCache } from '../pod-like.ts';
import type { Stage } from '../stage.ts';
import { startStandInMembers } from './members.ts';
import { startStandInNodes } from './nodes.ts';

export interface StandIns extends AsyncDisposable {
  /** Of a tick's pod. */
  readonly env: NodeJS.ProcessEnv;
}

/** The bundle, in the directory, and what plays the nodes and members of stand-ins. */
export async function startStandIns(stage: Stage, directory: string, kwok: Kwok): Promise<StandIns> {
  await build(directory);
  await fillCompileCache(directory);
  const env = await enterServiceAccount(stage.kubectl, directory);
  await using starting = new AsyncDisposableStack();
  starting.use(await startStandInNodes(stage.cluster, kwok));
  starting.use(await startStandInMembers(stage.kube));
  const started = starting.move();
  return { env, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
