import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { type Program, type Request, run } from '../../cluster/act/requests/program.ts';
import type { NodeActContext } from '../act-context.ts';
import type { NodeBehaviour } from './define.ts';
import { createJob, deleteJob, readJob } from './jobs.ts';
import { evictPod, holdCluster, letGoCluster, moveLeader } from './leaving.ts';
import { readNode, writeNode, writePolicy } from './objects.ts';

const definitions = [
  writePolicy,
  writeNode,
  readNode,
  createJob,
  readJob,
  deleteJob,
  holdCluster,
  letGoCluster,
  evictPod,
  moveLeader,
] as const;

const behaviours: ReadonlyMap<string, NodeBehaviour<never, unknown>> = new Map(
  definitions.map(({ kind, behaviour }) => [kind, behaviour as NodeBehaviour<never, unknown>]),
);

/** @throws {Error} when there is none of that kind. */
export function nodeBehaviourOf({ kind }: Request): NodeBehaviour<unknown, unknown> {
  const behaviour = behaviours.get(kind);
  if (!behaviour) throw new Error(`there is no request ${kind} about nodes`);
  return behaviour as NodeBehaviour<unknown, unknown>;
}

/** Carries an action out against the API server and etcd. @throws {KubeError | EtcdError | StepError} */
export function runNodeAction<R>(program: Program<R>, context: NodeActContext): Promise<R> {
  const live = { ...context, held: new Map<string, EtcdCluster>() };
  return run(program, (request) => nodeBehaviourOf(request).live(request.ask, live));
}
