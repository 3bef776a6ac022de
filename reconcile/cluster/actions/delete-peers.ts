import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import type { ActContext } from './context.ts';

/** Only of a resource that is itself being deleted. StatefulSets and pods follow by their owner references. */
export async function deletePeers(
  { peers }: ActionOf<'delete-peers'>,
  { kube, cluster, signal }: ActContext,
): Promise<void> {
  if (cluster.metadata.deletionTimestamp === undefined) throw moved('the cluster is not being deleted');
  await Promise.all(
    peers.map(({ name, uid }) =>
      kube.delete(resources.peers, cluster.metadata.namespace, name, {
        preconditions: { uid },
        propagation: 'Background',
        signal,
      }),
    ),
  );
}
