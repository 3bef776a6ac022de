import { type Program, together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import type { Inputs } from '../../../know/spec/inputs.ts';
import { livePeer, readStatefulSet } from '../../requests/objects.ts';
import { deletePod, readPod } from '../../requests/pods.ts';
import { defineAction, namesOf } from '../define.ts';
import { clearToRun } from './going-back.ts';
import { changeInputs } from './member-template.ts';
import { requireOwnTemplate } from './own-template.ts';

/**
 * Gives members that are not Ready the effective configuration: peer, then StatefulSet, then the pod goes.
 *
 * Guards I1: a pod that has become Ready meanwhile is left alone; the next step sees what to do. Deleted with UID and
 * resourceVersion, not evicted: a pod that is not Ready does not serve, and a budget without quorum would protect it
 * forever.
 */
export const reconfigureMembers = defineAction('reconfigure-members', {
  target: ({ peers }) => namesOf(peers),
  parts: (action) => action.peers.map((peer) => ({ ...action, peers: [peer] })),
  *run({ peers, inputs }) {
    for (const { name, uid } of peers) {
      const peer = yield* livePeer(name);
      if (peer.uid !== uid) throw moved(`peer ${name} was recreated`);
      yield* requireStillDue(name, inputs);
      if (yield* changeInputs(peer, inputs)) yield* restartIfNotReady(name, inputs);
    }
  },
});

/**
 * Time has passed since the decision. A pod that became Ready on its template has nothing to be cured of; and what has
 * started since may have written data that a lower minor must not open (I6).
 */
function* requireStillDue(name: string, { version }: Inputs): Program {
  const { set, pod } = yield* together({ set: readStatefulSet({ name }), pod: readPod({ name }) });
  if (!pod) return;
  yield* clearToRun(name, pod, version);
  if (pod.ready && pod.revision === set?.updateRevision) throw moved(`${name} has become Ready since`);
}

function* restartIfNotReady(name: string, { version }: Inputs): Program {
  const { peer, set, pod } = yield* together({
    peer: livePeer(name),
    set: readStatefulSet({ name }),
    pod: readPod({ name }),
  });
  if (!set || !pod || pod.leaving || pod.ready || pod.revision === set.updateRevision) return;
  yield* clearToRun(name, pod, version);
  yield* requireOwnTemplate(peer, set);
  yield* deletePod({ uid: pod.uid, readAt: pod.readAt });
}
