import { configMap } from '../../../manifests/build/config-map.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import { statefulSet } from '../../../manifests/build/stateful-set.ts';
import type { ConfigMap, StatefulSet } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, createOurs, livePeer, liveVolume } from './context.ts';
import { noteFirstStart } from './first-start.ts';
import { requireSealedDisk } from './live-disk.ts';
import { noteNextVersion } from './note-versions.ts';
import { offeredToMembers } from './offered.ts';

/**
 * Creates the StatefulSets that run the members.
 *
 * Guards I5: each volume is there, with the disk that it was sealed on, and its ConfigMap says what it says, at this moment; a volume that is sealed
 * can only be started sealed; and one on which its member starts for the first time says so before any member does.
 */
export async function startMembers({ peers }: ActionOf<'start-members'>, context: ActContext): Promise<void> {
  const offered = await offeredToMembers(context);
  const ready = await Promise.all(peers.map((name) => checkedPeer(name, context)));
  await Promise.all(
    ready.map((peer) =>
      createOurs<StatefulSet>(context, resources.statefulSets, statefulSet(peer, offered), (found) =>
        isControlledBy(found, peer.metadata.uid ?? ''),
      ),
    ),
  );
}

async function checkedPeer(name: string, context: ActContext) {
  const { kube, cluster, signal } = context;
  const [peer, volume, found] = await Promise.all([
    livePeer(context, name),
    liveVolume(context, name),
    kube.get<ConfigMap>(resources.configMaps, cluster.metadata.namespace, name, { signal }),
  ]);
  await requireSealedDisk(volume, context);
  const { claim, record } = volume;
  const wanted = configMap(peer, record, claim).data ?? {};
  if (
    !found ||
    !isControlledBy(found, claim.metadata.uid ?? '') ||
    Object.entries(wanted).some(([key, value]) => found.data?.[key] !== value)
  ) {
    throw moved(`ConfigMap ${name} does not say what its volume says`);
  }
  if (volume.record.state === 'bootstrapping') await noteFirstStart(volume, context);
  else await noteNextVersion(name, peer.spec.version, context);
  return peer;
}
