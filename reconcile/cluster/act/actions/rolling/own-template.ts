import type { Program } from '../../../../requests/program.ts';
import { driftInWords } from '../../../know/drift.ts';
import type { PeerView, StatefulSetView } from '../../../know/observation.ts';
import { moved } from '../../../know/outcome.ts';
import type { Owned, Read } from '../../requests/objects.ts';
import { readDrift } from '../../requests/templates.ts';

/**
 * Guards I16, just before a pod ends: its StatefulSet makes the next one as we wrote it. Another client may have
 * written to it since it was looked at.
 *
 * @throws {StepError} otherwise; the next step writes it anew.
 */
export function* requireOwnTemplate(peer: Read<PeerView>, set: Owned<StatefulSetView>): Program {
  const { name } = peer.readAt;
  const drift = yield* readDrift({ peer: peer.readAt, set: set.readAt });
  if (drift) throw moved(`${name} is not restarted: ${driftInWords(name, drift)}`);
}
