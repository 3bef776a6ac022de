import type { Ref } from '../actions.ts';
import type { Situation } from '../decide.ts';
import { act, type Decision, done, refuse, wait } from '../decision.ts';
import { recordOf } from '../life.ts';
import { volumesFinalizer } from '../marks.ts';
import { podThatStays } from '../staying.ts';

/**
 * The resource is being deleted: with policy Delete its members stop, then its volumes go, then the finalizer.
 *
 * With policy Retain there is nothing for us to do: the owner references take everything but the volumes along. Guards
 * I4: volumes go only here, by the policy the person chose, after the last pod that could write to them.
 */
export function finishDeletion(situation: Situation): Decision | undefined {
  const { cluster, slots, life, certificates } = situation;
  const { metadata, spec } = cluster;
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (!metadata.finalizers?.includes(volumesFinalizer)) {
    return done('BeingDeleted', 'the resource is being deleted; its volumes are kept');
  }
  const letGo = act(
    { kind: 'set-finalizer', present: false },
    'LettingGo',
    'everything that was to be deleted is gone',
  );
  if (spec.volumeRetention?.whenDeleted !== 'Delete') return letGo;

  const peers = slots.flatMap(({ name, peer }) => (peer?.current && !peer.leaving ? [{ name, uid: peer.uid }] : []));
  if (peers.length > 0) {
    return act(
      { kind: 'delete-peers', peers },
      'StoppingMembers',
      'stopping the members, because the cluster is being deleted',
    );
  }
  if (slots.some(({ peer, pod, statefulSet }) => peer || pod || statefulSet)) {
    const staying = podThatStays(slots, situation);
    if (staying) return staying;
    return wait(
      'MembersStopping',
      'the members are stopping',
      { on: 'change', of: 'pods' },
      { on: 'change', of: 'peers' },
    );
  }
  if (life.stage === 'unclear' && life.reason !== 'AllVolumesGone') {
    return refuse(life.reason, life.message, `${life.cure}; then remove the finalizer ${volumesFinalizer}`);
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
      'deleting the CAs: nobody is left who could trust them',
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
