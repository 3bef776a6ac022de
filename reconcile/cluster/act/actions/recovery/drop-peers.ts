import { mayTakeOver } from '../../../../../manifests/render/volume-record.ts';
import { moved } from '../../../know/outcome.ts';
import { deletePeer } from '../../requests/removing.ts';
import { liveVolume, readVolume } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';

/**
 * Deletes peers of a cluster that a rollback has given up.
 *
 * Guards I4: their volumes say themselves that they were left behind, and stay.
 */
export const dropPeers = defineAction('drop-peers', {
  target: ({ peers }) => namesOf(peers),
  *run({ volume, peers }) {
    const { record } = yield* liveVolume(volume.name);
    if (!mayTakeOver(record)) throw moved(`volume ${volume.name} is ${record.state}`);
    for (const peer of peers) {
      const found = yield* readVolume({ name: peer.name });
      if (found && found.record.state !== 'superseded')
        throw moved(`volume ${peer.name} is ${found.record.state}, and was not left behind`);
      yield* deletePeer(peer);
    }
  },
});
