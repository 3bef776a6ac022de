import { wishOf } from '../../../../../manifests/render/snapshot-id.ts';
import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { isAdopting } from '../../../know/adoption/inherited.ts';
import { approvedRollback, aspirantsIn, type WantedRollback } from '../../../know/backups/rollback.ts';
import { inWords } from '../../../know/backups/rollback-refusal.ts';
import { tokenOfAuthorities } from '../../../know/certificates/token.ts';
import { act, type Decision, wait } from '../../../know/decision.ts';
import { recordOf, tlsForLife } from '../../../know/life.ts';
import type { Slot } from '../../../know/observation.ts';
import { nodesWithPods } from '../../../know/pods/node-fence.ts';
import { livesGivenUp, mostRemembered } from '../../../know/recovery/outvoted.ts';
import type { Situation } from '../../../know/situation.ts';
import { freeName } from '../../free-name.ts';
import { restore } from '../birth/begin-from-snapshot.ts';

/**
 * A rollback that a person approved, up to where its data are restored: to the volume of a member of a cluster to come,
 * while the present one runs on. A snapshot that is refused costs nothing, and an approval that is taken back calls it
 * off. What then follows is `handOver`.
 *
 * Guards I11: nothing is restored over data, and nothing of the present cluster ends before the data are there.
 */
export function rollBack(situation: Situation): Decision | undefined {
  const { slots, life } = situation;
  // Members of another origin would lose their quorum with ours (`takeOver`).
  if (isAdopting(situation)) return undefined;
  const approved = approvedRollback(situation, life);
  const aspirants = aspirantsIn(slots);
  for (const slot of aspirants) {
    const why = whyNot(slot, approved);
    if (why !== undefined) return callOff(slot, why);
  }
  const [chosen, another] = aspirants;
  if (another) return callOff(another, 'a late request made it, and another one is there for the rollback');
  const record = chosen && recordOf(chosen);
  if (!approved) return undefined;
  if (!chosen || !record) return begin(approved, situation);
  if (!chosen.peer || !chosen.configMap) return prepare(chosen, record, situation);
  return restore({ chosen, record, wanted: approved, approval: approved.approval }, situation);
}

/** Unless it gives up the very cluster whose end is approved, and its volume is there to stay. */
function whyNot(slot: Slot, approved: WantedRollback | undefined): string | undefined {
  const outdated = 'its rollback is not approved any more, or another one is';
  if (!approved) return outdated;
  const { volume } = slot;
  if (!volume || volume.lost) return 'its volume is lost, and the rollback begins anew, as approved';
  if (volume.leaving) return 'its volume is being deleted, and the rollback begins anew, as approved';
  const { gaveUp, goesBackTo } = recordOf(slot) ?? {};
  // What it goes back to is looked up there, and nowhere else.
  if (approved.backup && (!goesBackTo || wishOf(goesBackTo.snapshot) !== approved.id)) return outdated;
  return gaveUp?.at(-1) === approved.clusterId ? undefined : outdated;
}

function callOff({ name, peer, volume }: Slot, why: string): Decision {
  const peerRef = peer?.current && !peer.leaving ? { peer: { name, uid: peer.uid } } : undefined;
  const volumeRef = volume && !volume.leaving ? { volume: { name, uid: volume.uid } } : undefined;
  if (!peerRef && !volumeRef)
    return wait('OldObjectsLeaving', `what was prepared of ${name} for a rollback is being deleted`, {
      on: 'change',
      of: 'volumeClaims',
    });
  return act(
    { kind: 'call-off-rollback', name, ...peerRef, ...volumeRef },
    'CallingOffRollback',
    `${name} goes: ${why}; the present cluster is as it was`,
  );
}

function begin(approved: WantedRollback, situation: Situation): Decision {
  const { lease, nonce, membership, effective, cluster, life, slots } = situation;
  const { approval, clusterId, id, revision, backup } = approved;
  const { inputs } = effective;
  const listed = membership.kind === 'known' ? membership.members : (membership.last ?? []);
  const member = freeName(situation, listed);
  const former = livesGivenUp(situation, life).filter((one) => one !== clusterId);
  const record: VolumeRecord = {
    token: nonce,
    initialCluster: [member],
    version: inputs.version,
    ...tlsForLife(inputs),
    state: 'restoring',
    recovery: { id, attempt: 0, lastSeenOn: nodesWithPods(slots) },
    gaveUp: [...former, clusterId].slice(-mostRemembered),
    ...authoritiesOf(situation),
    ...(backup && { goesBackTo: backup }),
  };
  const begun = lease.kind === 'abandoned' && lease.action?.kind === 'begin-rollback' ? lease.action : undefined;
  const action =
    begun?.approval === approval
      ? begun
      : ({ kind: 'begin-rollback', approval, member: { name: member.name, record }, inputs } as const);
  const count =
    listed.length === 0 ? 'all its members' : `${listed.length} ${listed.length === 1 ? 'member' : 'members'}`;
  const lost = revision === undefined ? 'after the snapshot was taken' : `after revision ${revision}`;
  return act(
    action,
    'RollingBack',
    `as approved, ${cluster.metadata.name} goes back to ${inWords(approved, situation)}: ${action.member.name} is restored from it beside etcd cluster ${clusterId}; then ${count} of that end, and what was written ${lost} is lost; their volumes are kept`,
  );
}

/** Clients trust them. Where no volume is left, they say themselves of whom they are. */
function authoritiesOf({ life, slots, certificates }: Situation): Pick<VolumeRecord, 'authoritiesOf'> {
  if (life.stage === 'born') return { authoritiesOf: tokenOfAuthorities(slots, life.token) };
  const token = certificates.kind === 'read' ? certificates.authorities.client?.record?.token : undefined;
  return token === undefined || token === '' ? {} : { authoritiesOf: token };
}

function prepare({ name }: Slot, record: VolumeRecord, { effective }: Situation): Decision {
  return act(
    { kind: 'prepare-members', members: [{ name, record }], inputs: effective.inputs },
    'PreparingMembers',
    `preparing ${name}, to which the snapshot of the rollback is restored`,
  );
}
