import type { VolumeState } from '../../../../../manifests/api/etcd-peer.ts';
import { act, type Decision } from '../../../know/decision.ts';
import { isBlockedByLeftovers } from '../../../know/leftovers.ts';
import { recordOf } from '../../../know/life.ts';
import type { Situation } from '../../../know/situation.ts';
import { isUnnoted } from '../../../know/volumes/sealed-disk.ts';
import { startingInputs } from '../../held-version.ts';
import { noting } from '../volumes/know-disks.ts';

/** States of volumes from which any invocation may start the member without a person's approval. */
export const adoptable = {
  bootstrapping: true,
  joining: true,
  sealed: true,
  releasing: true,
  released: false,
  recovering: false,
  recovered: true,
  restoring: false,
  restored: true,
  superseded: false,
  hibernating: false,
} as const satisfies Record<VolumeState, boolean>;

/**
 * Volumes without peers: the resource was deleted and applied again. The members go on with their data, sealed, at the
 * version that they last ran.
 *
 * Guards I5: a member that had data only ever starts on that data; this rule creates no volume. A member with leftovers
 * of an earlier resource waits for their collection; the others do not wait for it.
 */
export function adopt(situation: Situation): Decision | undefined {
  const { slots, life } = situation;
  if (life.stage !== 'born') return undefined;
  const members = slots.flatMap((slot) => {
    const record = recordOf(slot);
    if (!record || slot.peer || isBlockedByLeftovers(slot) || slot.volume?.leaving || life.strays.includes(slot))
      return [];
    return adoptable[record.state] ? [{ name: slot.name, record }] : [];
  });
  if (members.length === 0) return undefined;
  // Now only the retained PVC exists. Later it could not be told apart from a restored one.
  const unnoted = noting(
    slots.flatMap((slot) => (isUnnoted(slot) && members.some(({ name }) => name === slot.name) ? [{ slot }] : [])),
  );
  if (unnoted) return unnoted;
  return act(
    { kind: 'prepare-members', members, inputs: startingInputs(situation) },
    'AdoptingVolumes',
    `starting ${members.map(({ name }) => name).join(', ')} from their retained volumes`,
  );
}
