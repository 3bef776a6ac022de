import type { VolumeState } from '../../../manifests/api/etcd-peer.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision } from '../decision.ts';
import { isHeldBack } from '../leftovers.ts';
import { recordOf } from '../life.ts';
import { isUnnoted } from '../sealed-disk.ts';
import { noting } from './note-disks.ts';

/** Which volumes' members may be started by whoever finds them, without asking anybody. */
export const adoptable = {
  bootstrapping: true,
  joining: true,
  sealed: true,
  releasing: true,
  released: false,
  recovering: false,
  recovered: true,
  superseded: false,
  hibernating: false,
} as const satisfies Record<VolumeState, boolean>;

/**
 * Volumes without peers: the resource was deleted, and applied again. Its members go on, with their data, sealed, at the
 * version that they last ran.
 *
 * Guards I5: a member that had data is only ever started on that data; nothing here makes a volume. One of which something old is left
 * waits for that, and the others do not wait for it.
 */
export function adopt({ slots, life, effective }: Situation): Decision | undefined {
  if (life.stage !== 'born') return undefined;
  const members = slots.flatMap((slot) => {
    const record = recordOf(slot);
    if (!record || slot.peer || isHeldBack(slot) || slot.volume?.leaving || life.strays.includes(slot)) return [];
    return adoptable[record.state] ? [{ name: slot.name, record }] : [];
  });
  if (members.length === 0) return undefined;
  // While nothing but the claim that was retained is there: later it could be told from a restored one no more.
  const unnoted = noting(slots.filter((slot) => isUnnoted(slot) && members.some(({ name }) => name === slot.name)));
  if (unnoted) return unnoted;
  return act(
    { kind: 'prepare-members', members, inputs: effective.inputs },
    'AdoptingVolumes',
    `starting ${members.map(({ name }) => name).join(', ')} from their retained volumes`,
  );
}
