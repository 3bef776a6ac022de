import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, deleteWithDependents } from './context.ts';

/** Only of a resource that is itself being deleted. StatefulSets and pods follow by their owner references. */
export async function deletePeers({ peers }: ActionOf<'delete-peers'>, context: ActContext): Promise<void> {
  if (context.cluster.metadata.deletionTimestamp === undefined) throw moved('the cluster is not being deleted');
  await deleteWithDependents(context, resources.peers, peers);
}
