import { moved } from '../../../know/outcome.ts';
import { markReplacing } from '../../requests/changing.ts';
import { makeVolumeAnew } from '../../requests/making.ts';
import { livePeer } from '../../requests/objects.ts';
import { awaitVolumeGone } from '../../requests/removing.ts';
import { deleteVolume, liveVolume } from '../../requests/volumes.ts';
import { noteFirstStart } from '../birth/first-start.ts';
import { defineAction } from '../define.ts';
import { unmarked } from './following.ts';

/**
 * Makes a volume anew that was never bound, under the same record, as the spec now asks.
 *
 * The peer is marked first: a crash after the deletion then looks like what it is, not like the loss of a volume that
 * held data. The resourceVersion makes the deletion fail when the volume is bound in the last moment.
 */
export const replaceUnboundVolume = defineAction('replace-unbound-volume', {
  target: ({ volume }) => volume.name,
  *run({ volume: { name, uid }, storage }) {
    const { bound, record, readAt, ...volume } = yield* liveVolume(name);
    if (volume.uid !== uid || bound || record.state !== 'bootstrapping')
      throw moved(`volume ${name} is no longer the unbound one that was looked at`);
    const peer = yield* livePeer(name);
    const marked = yield* markReplacing({ readAt: peer.readAt, uid, storage });
    yield* deleteVolume({ uid, readAt });
    yield* awaitVolumeGone({ name, uid });
    yield* makeVolumeAnew({ peer: marked.readAt, record });
    // Its pod may be waiting for it.
    yield* noteFirstStart(yield* liveVolume(name), peer);
    yield* unmarked(yield* livePeer(name));
  },
});
