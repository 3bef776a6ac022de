import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { named } from '../../requests/define.ts';
import { runLive } from '../../requests/live.ts';
import type { Program } from '../../requests/program.ts';
import { createJob, deleteJob, readJob } from './jobs.ts';
import { evictPod, holdCluster, letGoCluster, moveLeader } from './leaving.ts';
import { readNode, writeNode, writePolicy } from './objects.ts';
import type { NodeActContext } from './request.ts';

/** All requests about nodes. Each needs a contract in `test/integration/requests/nodes`, or it does not compile. */
export const nodeRequests = named({
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
});

/** Carries an action out against the API server and etcd. @throws {KubeError | EtcdError | StepError} */
export function runNodeAction<R>(program: Program<R>, context: NodeActContext): Promise<R> {
  return runLive(program, nodeRequests, { ...context, held: new Map<string, EtcdCluster>() });
}
