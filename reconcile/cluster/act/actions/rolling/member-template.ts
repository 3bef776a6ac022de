import { isHigher } from '../../../../../manifests/api/version.ts';
import type { Program } from '../../../../requests/program.ts';
import type { PeerView, StatefulSetView } from '../../../know/observation.ts';
import type { Inputs } from '../../../know/spec/inputs.ts';
import type { Read } from '../../requests/objects.ts';
import { tryTemplate, writeInputs, writeTemplate } from '../../requests/templates.ts';
import { noteNextVersion } from './next-version.ts';

/**
 * What a member's next pod is made from: its peer, and from that its StatefulSet. The volume is told first of a version
 * that it never ran, and of the roll that gives it that. A lower one than the peer was told before needs no note: so
 * that can be taken back where the PVC is being deleted, which takes no annotation.
 *
 * @returns the StatefulSet with that template; `undefined` when the peer has none.
 */
export function* changeInputs(
  peer: Read<PeerView>,
  inputs: Inputs,
  rolls = false,
): Program<StatefulSetView | undefined> {
  const { readAt } = peer;
  yield* tryTemplate({ readAt, inputs });
  if (rolls || isHigher(inputs.version, peer.inputs.version))
    yield* noteNextVersion(readAt.name, inputs.version, rolls);
  const written = yield* writeInputs({ readAt, inputs });
  return yield* writeTemplate({ readAt: written.readAt });
}
