import { bootstrapVariables } from '../../../../../manifests/render/bootstrap-variables.ts';
import { each, type Program, together } from '../../../../requests/program.ts';
import type { PeerView } from '../../../know/observation.ts';
import { moved } from '../../../know/outcome.ts';
import { makeStatefulSet } from '../../requests/making.ts';
import { livePeer, type Read, readConfigMap } from '../../requests/objects.ts';
import { liveVolume } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';
import { noteNextVersion } from '../rolling/next-version.ts';
import { requireSealedDisk } from '../volumes/following.ts';
import { noteFirstStart } from './first-start.ts';

/**
 * Creates the StatefulSets that run the members.
 *
 * Guards I5: each volume is there, with the disk that it was sealed on, and its ConfigMap says what it says, at this
 * moment; a volume that is sealed can only be started sealed; and one on which its member starts for the first time
 * says so before any member does.
 *
 * One after the other, which costs a few milliseconds and saves a second: before its first start, etcd asks the members
 * that it was given for up to 1 s whether it was here before (`isMemberBootstrapped` in its bootstrap.go), and listens
 * before it answers, so that members of the same instant wait for each other.
 */
export const startMembers = defineAction('start-members', {
  target: ({ peers }) => peers.join(', '),
  parts: (action) => action.peers.map((peer) => ({ ...action, peers: [peer] })),
  *run({ peers }) {
    const ready = yield* each(peers, readyToStart);
    for (const { uid, inputs, readAt } of ready) yield* makeStatefulSet({ peer: readAt, peerUid: uid, inputs });
  },
});

function* readyToStart(name: string): Program<Read<PeerView>> {
  const { peer, volume, settings } = yield* together({
    peer: livePeer(name),
    volume: liveVolume(name),
    settings: readConfigMap({ name }),
  });
  yield* requireSealedDisk(name, volume);
  const wanted = bootstrapVariables(volume.record, name);
  if (
    settings?.controller !== volume.uid ||
    settings.initialCluster !== wanted.ETCD_INITIAL_CLUSTER ||
    settings.initialClusterState !== wanted.ETCD_INITIAL_CLUSTER_STATE
  ) {
    throw moved(`ConfigMap ${name} does not match its volume`);
  }
  if (volume.record.state === 'bootstrapping') yield* noteFirstStart(volume, peer);
  else yield* noteNextVersion(name, peer.inputs.version);
  return peer;
}
