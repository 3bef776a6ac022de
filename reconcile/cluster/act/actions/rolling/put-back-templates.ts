import { moved } from '../../../know/outcome.ts';
import { livePeer } from '../../requests/objects.ts';
import { readPod } from '../../requests/pods.ts';
import { writeTemplate } from '../../requests/templates.ts';
import { defineAction, namesOf } from '../define.ts';
import { clearToBeTold } from './going-back.ts';

/**
 * Writes StatefulSets as their peers ask for: another client changed them. No pod ends here. One that runs on our
 * template goes on; one that was made from the other's is restarted by `finish-rolling` or `cure-configuration`.
 *
 * Guards I6: one that ran a higher minor since keeps it where it may not go back.
 */
export const putBackTemplates = defineAction('put-back-templates', {
  target: ({ peers }) => namesOf(peers),
  parts: (action) => action.peers.map((peer) => ({ ...action, peers: [peer] })),
  *run({ peers }) {
    for (const { name, uid } of peers) {
      const peer = yield* livePeer(name);
      if (peer.uid !== uid) throw moved(`peer ${name} was recreated`);
      yield* clearToBeTold(name, yield* readPod({ name }), peer.inputs.version);
      yield* writeTemplate({ readAt: peer.readAt });
    }
  },
});
