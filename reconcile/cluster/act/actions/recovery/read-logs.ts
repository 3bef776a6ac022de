import { each } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { livePeer } from '../../requests/objects.ts';
import { createLogJob } from '../../requests/recovery.ts';
import { defineAction, namesOf } from '../define.ts';

/** Changes nothing on the disks: their volumes are mounted read-only. */
export const readLogs = defineAction('read-logs', {
  target: ({ members }) => namesOf(members),
  parts: (action) => action.members.map((member) => ({ ...action, members: [member] })),
  *run({ members }) {
    yield* each(members, function* ({ name, uid, situation }) {
      const peer = yield* livePeer(name);
      if (peer.uid !== uid) throw moved(`${name} was recreated`);
      yield* createLogJob({ peer: peer.readAt, situation });
    });
  },
});
