import { moved } from '../../../know/outcome.ts';
import { livePeer } from '../../requests/objects.ts';
import { writeTemplate } from '../../requests/templates.ts';
import { defineAction, namesOf } from '../define.ts';

/**
 * Writes StatefulSets as their peers ask for: another client changed them. No pod ends here. One that runs on our
 * template goes on; one that was made from the other's is restarted by `finish-rolling` or `cure-configuration`.
 */
export const putBackTemplates = defineAction('put-back-templates', {
  target: ({ peers }) => namesOf(peers),
  parts: (action) => action.peers.map((peer) => ({ ...action, peers: [peer] })),
  *run({ peers }) {
    for (const { name, uid } of peers) {
      const peer = yield* livePeer(name);
      if (peer.uid !== uid) throw moved(`peer ${name} was recreated`);
      yield* writeTemplate({ readAt: peer.readAt });
    }
  },
});
