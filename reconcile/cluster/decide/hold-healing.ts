import { replacedDefaults } from '../../../manifests/api/spec-defaults.ts';
import { annotations } from '../../../manifests/render/names.ts';
import type { ListedMember } from '../../interfaces/etcd.ts';
import { type Refused, refuseUntil } from '../know/decision.ts';
import { approvalOfReplacement, replacementGiven } from '../know/membership/replacement-approval.ts';
import type { Slot } from '../know/observation.ts';
import type { Situation } from '../know/situation.ts';
import { isOnOtherDisk } from '../know/volumes/sealed-disk.ts';

/** A voter that `heal` would give up, and why. */
export interface Lost {
  readonly slot: Slot;
  readonly member: Pick<ListedMember, 'id'>;
  readonly why: string;
  /** Its data differ from the majority's: it can't come back, and its volume is kept as evidence. */
  readonly isCorrupt: boolean;
  /** The spec asks for as many members as there are without it. */
  readonly isSpare: boolean;
}

/** `spec.healing.mode: Manual`: the question to a person, for exactly this member. */
export function holdHealing(lost: Lost, clusterId: string, situation: Situation): Refused {
  const { slot, member, why, isCorrupt, isSpare } = lost;
  const { name } = slot;
  const value = approvalOfReplacement(clusterId, member.id, slot, situation);
  const isOther = replacementGiven(situation) !== undefined;
  const other = isOther
    ? `; the present approval (${annotations.replaceMember}) is for another member, or for an earlier failure`
    : '';
  const comesNext = isSpare ? 'the spec asks for no other one' : 'a new member, with a new volume, takes its place';
  const meanwhile = isCorrupt
    ? 'until then etcd may accept no writes'
    : 'until then the cluster can spare one member less, and no change of it begins';
  const returns = isCorrupt ? '' : `bring ${name} back with its data, or `;
  return refuseUntil(
    {
      approval: {
        annotation: annotations.replaceMember,
        value,
        approves: `${name} (${member.id}) is removed from the member list of etcd cluster ${clusterId} for ever; ${comesNext}`,
        loses: losesOf(slot, isCorrupt, situation),
      },
      cure: `${returns}set spec.healing.mode to Automatic, or approve that ${name} is given up`,
      cluster: situation.cluster,
    },
    'HealingHeld',
    `${why}; spec.healing.mode is Manual, so ${name} is not replaced before a person approves it: ${meanwhile}${other}`,
  );
}

function losesOf(slot: Slot, isCorrupt: boolean, { cluster }: Situation): string {
  const { name, volume } = slot;
  const others = 'the other members are a healthy quorum, and have every write that was acknowledged';
  if (!volume || volume.lost || volume.leaving)
    return `nothing that would stay: the volume of ${name} is gone; ${others}`;
  const { policy, keepFor } = { ...replacedDefaults, ...cluster.spec.volumeRetention?.whenReplaced };
  const isKept =
    isCorrupt || isOnOtherDisk(slot) || policy === 'Retain'
      ? 'is kept'
      : `is deleted ${keepFor} after its replacement votes (spec.volumeRetention.whenReplaced)`;
  return `what only ${name} holds: PersistentVolumeClaim ${name} ${isKept}, and never becomes a member again; ${others}`;
}
