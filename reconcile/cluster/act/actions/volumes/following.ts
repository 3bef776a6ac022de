import { isSealed } from '../../../../../manifests/render/bootstrap-variables.ts';
import type { Program } from '../../../../requests/program.ts';
import type { PeerView } from '../../../know/observation.ts';
import { moved } from '../../../know/outcome.ts';
import { unmarkReplacing, writeConfigMap } from '../../requests/changing.ts';
import { isOnDisk } from '../../requests/disks.ts';
import { makeConfigMap, notOurs } from '../../requests/making.ts';
import { livePeer, type Read, readConfigMap } from '../../requests/objects.ts';
import type { VolumeRead } from '../../requests/volumes.ts';

/**
 * The bootstrap ConfigMap of a member says what its volume says, and goes with that very PVC. Of an earlier release's
 * ConfigMap the owner was the peer: it is handed over to the PVC, which may be done although it is immutable.
 *
 * @throws {StepError} when the ConfigMap is sealed and would have to be unsealed, which is never done.
 */
export function* followRecord(name: string, { uid: volumeUid, record, readAt: volume }: VolumeRead): Program {
  const found = yield* livePeer(name);
  // A mark that arrived late would outlive the seal, which goes with the PVC.
  const { uid, readAt: peer } = record.state === 'bootstrapping' ? found : yield* unmarked(found);
  const settings = yield* readConfigMap({ name });
  const following = { peer, volume, volumeUid, record };
  if (!settings) {
    const { existed } = yield* makeConfigMap(following);
    if (existed) throw moved(`ConfigMap ${name} was made meanwhile`);
    return;
  }
  const isClaims = settings.controller === volumeUid;
  if (!isClaims && settings.controller !== uid) throw notOurs(name, !settings.foreign);
  if (settings.immutable && !isSealed(record.state)) throw moved(`ConfigMap ${name} is sealed`);
  if (settings.immutable && isClaims) return;
  yield* writeConfigMap({ ...following, readAt: settings.readAt });
}

/** Without the mark of an unbound volume that was to be made anew; written only if it has one. */
export function* unmarked(peer: Read<PeerView>): Program<Read<PeerView>> {
  return peer.replacingVolume === undefined ? peer : yield* unmarkReplacing({ readAt: peer.readAt });
}

/**
 * Guards I5: what is behind the PVC at this moment is what its member was sealed on.
 *
 * @throws {StepError} when it is another disk, or none yet.
 */
export function* requireSealedDisk(name: string, volume: VolumeRead): Program {
  if (!(yield* isOnSealedDisk(volume))) throw moved(`volume ${name} has another disk than it was sealed on`);
}

/** Also where it was never noted which that was. */
export function* isOnSealedDisk({ record: { disk }, readAt }: VolumeRead): Program<boolean> {
  return disk ? yield* isOnDisk({ readAt, disk }) : true;
}
