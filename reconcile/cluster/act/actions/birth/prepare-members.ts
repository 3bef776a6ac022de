import type { Storage } from '../../../../../manifests/api/member-settings.ts';
import { revisionsAhead } from '../../../../../manifests/render/revisions.ts';
import { each, type Program } from '../../../../requests/program.ts';
import type { ActionOf } from '../../../know/action.ts';
import type { FirstStart } from '../../../know/actions/birth.ts';
import type { LeafOrder } from '../../../know/actions/certificates.ts';
import type { PeerView, VolumeView } from '../../../know/observation.ts';
import { moved } from '../../../know/outcome.ts';
import type { Inputs } from '../../../know/spec/inputs.ts';
import { applySharedObject, restoreLabelsOf } from '../../requests/cluster.ts';
import { type Made, makeConfigMap, makePeer, makeVolume } from '../../requests/making.ts';
import type { Read } from '../../requests/objects.ts';
import { liveVolume, type VolumeRead } from '../../requests/volumes.ts';
import { issueLeaves } from '../certificates/issue-leaves.ts';
import { makeAuthorities } from '../certificates/make-authorities.ts';
import { defineAction, type Leased, namesOf } from '../define.ts';
import { addLearner } from '../membership/add-learner.ts';
import { restoreSnapshot } from '../recovery/restore-snapshot.ts';
import { takeNextAsRun } from '../rolling/next-version.ts';
import { isOnSealedDisk, unmarked } from '../volumes/following.ts';
import { noteFirstStart } from './first-start.ts';
import { startMembers } from './start-members.ts';

/**
 * Records members before any of them starts: what they share, all volumes, then all peers, then all ConfigMaps. Only
 * then are they started, with the certificates that they need; a member that joins is added to the member list before,
 * and for one whose data come from a snapshot the Job is made that restores it.
 *
 * Guards I5. Every object is made by POST and is the same from any invocation, so an invocation that was frozen
 * half-way and wakes after another took over can only find its work done.
 */
export const prepareMembers = defineAction('prepare-members', {
  target: ({ members }) => namesOf(members),
  parts: ({ starts: _, ...action }) => action.members.map((member) => ({ ...action, members: [member] })),
  *run({ members, inputs, shared, starts }, cluster) {
    if (shared) {
      const { objects, ...facts } = shared;
      yield* each(objects, (object) => applySharedObject({ object, ...facts }));
    }
    const volumes = yield* each(members, function* ({ name, record }) {
      const made = yield* makeVolume({ name, record, inputs });
      const volume = yield* asRecorded(name, made.view);
      if (made.existed) yield* takeNextAsRun(volume);
      return { name, record, made, volume };
    });
    const prepared = yield* each(volumes, function* ({ name, record, made, volume }) {
      const peer = yield* madePeer(name, { record, inputs: withStorageOf(made, inputs) });
      return { name, volume, peer };
    });
    yield* each(prepared, function* ({ volume, peer }) {
      // Not for a sealed member's PVC that has another disk: without it nothing starts there.
      if (!(yield* isOnSealedDisk(volume))) return;
      const { uid: volumeUid, readAt, record } = volume;
      yield* makeConfigMap({ peer: peer.readAt, volume: readAt, volumeUid, record });
    });
    if (!starts) return;
    requireOneBirth(members, prepared);
    if (starts.restores) {
      const { id, source } = starts.restores;
      for (const { name, volume, peer } of prepared) {
        const of = { volume: { name, uid: volume.uid }, peer: { name, uid: peer.uid } };
        yield* restoreSnapshot.run(
          { kind: 'restore-snapshot', ...of, id, attempt: 1, source, bump: revisionsAhead },
          cluster,
        );
      }
      // The Job needs none: these are made while it runs.
      return yield* certificatesFor(prepared, members[0]?.record.token ?? '', starts.certificates, cluster);
    }
    yield* certificatesFor(prepared, members[0]?.record.token ?? '', starts.certificates, cluster);
    if (starts.joins) {
      for (const { name } of members)
        yield* addLearner.run({ kind: 'add-learner', name, ...starts.joins, start: true }, cluster);
    } else {
      yield* startMembers.run({ kind: 'start-members', peers: members.map(({ name }) => name) }, cluster);
    }
  },
});

/** Guards I5: no member starts beside one that another birth has recorded. @throws {StepError} */
function requireOneBirth(
  members: ActionOf<'prepare-members'>['members'],
  prepared: readonly { readonly name: string; readonly volume: VolumeRead }[],
): void {
  const other = prepared.find(
    ({ volume }, index) =>
      volume.record.token !== members[index]?.record.token || volume.record.state !== members[index]?.record.state,
  );
  if (other) throw moved(`volume ${other.name} was recorded by another step`);
}

/**
 * Guards the trust: CAs are made only where there are none, and leaves are signed by CAs that were read just before.
 */
function* certificatesFor(
  prepared: readonly { readonly name: string; readonly peer: Read<PeerView> }[],
  token: string,
  certificates: FirstStart['certificates'],
  cluster: Leased,
): Program {
  if (!certificates) return;
  const { authorities, validity } = certificates;
  const leaves = certificates.leaves.map((plan): LeafOrder => {
    const peer = prepared.find(({ name }) => name === plan.peer)?.peer;
    return { plan, remedy: 'issue', ...(peer && { peerUid: peer.uid }) };
  });
  if (authorities.length === 0) return yield* issueLeaves(leaves, validity, cluster);
  const made = authorities.map((authority) => ({ authority, trustedIn: [] }));
  yield* makeAuthorities.run({ kind: 'make-authorities', token, authorities: made, leaves, validity }, cluster);
}

function* asRecorded(
  name: string,
  { record, uid, leaving, bound, lost, readAt }: Read<VolumeView>,
): Program<VolumeRead> {
  if (record.kind !== 'valid') throw moved(`the annotations of volume ${name} have changed`);
  const { state } = record.record;
  if (state !== 'released' && state !== 'superseded')
    return { uid, leaving, bound, lost, record: record.record, readAt };
  // Kept, and without its labels it was not seen. With a peer beside it, it would be deleted as what that member had.
  yield* restoreLabelsOf({ of: 'volume', name, uid });
  throw moved(`volume ${name} belongs to a former member, and stays: another name is used`);
}

/**
 * A PVC that existed, and was never bound, may differ from the spec of now: its peer says so, and it is
 * made anew.
 */
function withStorageOf({ view, existed }: Made<VolumeView>, inputs: Inputs): Inputs {
  if (!existed || view.bound) return inputs;
  const { size, storageClassName } = view;
  const storage: Storage = { size, ...(storageClassName !== undefined && { storageClassName }) };
  return { ...inputs, storage };
}

function* madePeer(
  name: string,
  { record, inputs }: { readonly record: VolumeRead['record']; readonly inputs: Inputs },
): Program<Read<PeerView>> {
  const { view: peer } = yield* makePeer({ name, record, inputs });
  if (peer.replacingVolume === undefined) return peer;
  // The pod that waits for the volume that was made anew may be there already.
  yield* noteFirstStart(yield* liveVolume(name), peer);
  return yield* unmarked(peer);
}
