import { moved } from '../../../know/outcome.ts';
import { livePeer } from '../../requests/objects.ts';
import { readPod } from '../../requests/pods.ts';
import { defineAction } from '../define.ts';
import { clearToRun } from './going-back.ts';
import { changeInputs } from './member-template.ts';
import { restartMember } from './restart-member.ts';

/**
 * Gives one member's StatefulSet the effective configuration, and starts the member anew on it. Until its pod goes it
 * runs on as it was (`OnDelete`): `finish-rolling` does what a crash, or the disruption budget, left undone.
 *
 * Guards I6: a lower minor than its pod runs only where that may go back.
 */
export const changeTemplate = defineAction('change-template', {
  target: ({ peer }) => peer.name,
  *run({ peer: { name, uid }, inputs, rolls, restart }, cluster) {
    const peer = yield* livePeer(name);
    if (peer.uid !== uid) throw moved(`peer ${name} was recreated`);
    yield* clearToRun(name, yield* readPod({ name }), inputs.version);
    yield* changeInputs(peer, inputs, rolls);
    if (restart) yield* restartMember.run({ kind: 'restart-member', ...restart }, cluster);
  },
});
