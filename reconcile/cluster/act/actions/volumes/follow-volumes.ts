import { each } from '../../../../requests/program.ts';
import { liveVolume } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';
import { followRecord, requireSealedDisk } from './following.ts';

/** Each bootstrap ConfigMap says what its volume says now, and goes with that very PVC. */
export const followVolumes = defineAction('follow-volumes', {
  target: ({ peers }) => peers.join(', '),
  parts: (action) => action.peers.map((peer) => ({ ...action, peers: [peer] })),
  *run({ peers }) {
    yield* each(peers, function* (name) {
      const volume = yield* liveVolume(name);
      yield* requireSealedDisk(name, volume);
      yield* followRecord(name, volume);
    });
  },
});
