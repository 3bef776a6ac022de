import { retentionDefaults } from '../../../../../manifests/api/spec-defaults.ts';
import { offered } from '../../../../reasons/offers.ts';
import { act, type Decision, done, refuse, wait } from '../../../know/decision.ts';
import { recordOf } from '../../../know/life.ts';
import { volumesFinalizer } from '../../../know/marks.ts';
import { stuckPod } from '../../../know/pods/stuck.ts';
import type { Ref } from '../../../know/ref.ts';
import type { Situation } from '../../../know/situation.ts';
import { awaitStrangers, leaveExisting } from '../adoption/leave-existing.ts';
import { backUpLast } from './back-up-last.ts';

/**
 * The resource is being deleted: first its last backup. With policy Delete the members stop, then the volumes are
 * deleted, then the finalizer.
 *
 * With policy Retain there is nothing to do: garbage collection deletes everything but the volumes. Guards I4: volumes
 * are deleted only here, by the person's policy, after the last pod that could write to them.
 */
export function finishDeletion(situation: Situation): Decision | undefined {
  const { cluster, slots, life, certificates } = situation;
  const { metadata, spec } = cluster;
  if (metadata.deletionTimestamp === undefined) return undefined;
  const leaving = metadata.finalizers?.includes(volumesFinalizer)
    ? (leaveExisting(situation) ?? awaitStrangers(situation))
    : undefined;
  if (leaving) return leaving;
  const owed = backUpLast(situation);
  if (owed) return owed;
  if (!metadata.finalizers?.includes(volumesFinalizer)) {
    return done('BeingDeleted', 'the resource is being deleted; its volumes are kept');
  }
  const letGo = act(
    { kind: 'set-finalizer', present: false },
    'LettingGo',
    'everything that had to be deleted is gone',
  );
  if ((spec.volumeRetention?.whenDeleted ?? retentionDefaults.whenDeleted) !== 'Delete') return letGo;

  const peers = slots.flatMap(({ name, peer }) => (peer?.current && !peer.leaving ? [{ name, uid: peer.uid }] : []));
  if (peers.length > 0) {
    return act(
      { kind: 'delete-peers', peers },
      'StoppingMembers',
      'stopping the members, because the cluster is being deleted',
    );
  }
  if (slots.some(({ peer, pod, statefulSet }) => peer || pod || statefulSet)) {
    const stuck = stuckPod(slots, situation);
    if (stuck) return stuck;
    return wait(
      'MembersStopping',
      'the members are stopping',
      { on: 'change', of: 'pods' },
      { on: 'change', of: 'peers' },
    );
  }
  if (life.stage === 'unclear' && life.reason !== 'AllVolumesGone') {
    return refuse(life.reason, life.message, `${offered(life.offers)}; then remove the finalizer ${volumesFinalizer}`);
  }
  const strays = life.stage === 'birth' || life.stage === 'born' ? life.strays : [];
  const volumes = slots.flatMap((slot) =>
    slot.volume && recordOf(slot) && !slot.volume.leaving && !strays.includes(slot)
      ? [{ name: slot.name, uid: slot.volume.uid }]
      : [],
  );
  if (volumes.length > 0) {
    return act(
      { kind: 'delete-volumes', volumes },
      'DeletingVolumes',
      'deleting the volumes, because spec.volumeRetention.whenDeleted says so',
    );
  }
  if (slots.some(({ volume }) => volume?.leaving)) {
    return wait('VolumesLeaving', 'the volumes are being deleted', { on: 'change', of: 'volumeClaims' });
  }
  const secrets = authoritySecrets(certificates);
  if (secrets.length > 0) {
    return act(
      { kind: 'delete-authorities', secrets },
      'DeletingAuthorities',
      'deleting the CAs: no member is left that trusts them',
    );
  }
  return letGo;
}

function authoritySecrets(certificates: Situation['certificates']): readonly Ref[] {
  if (certificates.kind !== 'read') return [];
  return Object.values(certificates.authorities).flatMap(({ name, state, uid }) =>
    state === 'ours' && uid !== undefined ? [{ name, uid }] : [],
  );
}
