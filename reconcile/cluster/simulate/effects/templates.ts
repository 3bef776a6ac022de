import { isHigher } from '../../../../manifests/api/version.ts';
import { inputsHash } from '../../../../manifests/build/inputs-hash.ts';
import type { Inputs } from '../../effective.ts';
import { leads } from '../../leadership.ts';
import type { Observation, Slot } from '../../observation.ts';
import { type Effect, type EffectsOf, oneByOne, onSlot, slotOf } from '../effect.ts';
import { madeFrom, rememberingItsTemplate, withTemplate } from '../knowledge.ts';
import { moveLeader } from './membership.ts';
import { noteNextVersion, noteRan } from './versions.ts';

/** What members' next pods are made from, and pods that go for it. */

export const changeTemplate: EffectsOf<'change-template'> = ({ peer, inputs }, observation) =>
  oneByOne(...templateWrites(peer.name, inputs, observation));

export const reconfigureMembers: EffectsOf<'reconfigure-members'> = ({ peers, inputs }, observation) =>
  peers.flatMap(({ name }) => {
    const pod = slotOf(observation, name)?.pod;
    return oneByOne(
      ...templateWrites(name, inputs, observation),
      pod && !pod.ready && !pod.leaving ? dropOutdatedPod(name, pod.uid) : undefined,
    );
  });

/** The volume first, where the version is one that it never heard of; then the peer, then the StatefulSet. */
function templateWrites(name: string, inputs: Inputs, observation: Observation): readonly (Effect | undefined)[] {
  const slot = slotOf(observation, name);
  const told = slot?.peer?.inputs.version;
  const isNews = told === undefined || isHigher(inputs.version, told);
  return [
    noteRan(name, inputs.version, observation),
    isNews ? noteNextVersion(name, inputs.version, observation) : undefined,
    onSlot(name, (found) => (found.peer?.current ? { ...found, peer: { ...found.peer, inputs } } : found)),
    slot?.statefulSet ? updateStatefulSet(name) : undefined,
  ];
}

/** Its controller has yet to see the template; the pod goes on, and what it was made from is not forgotten. */
function updateStatefulSet(name: string): Effect {
  return onSlot(name, (slot) => {
    const { peer, statefulSet, pod } = slot;
    if (!peer?.current || !statefulSet?.current) return slot;
    return {
      ...slot,
      statefulSet: withTemplate(statefulSet, peer.inputs),
      ...(pod && { pod: { ...rememberingItsTemplate(pod, madeFrom(slot)), upToDate: 'unknown' } }),
    };
  });
}

/** Not one that has become Ready, and none that its template would make the same again. */
function dropOutdatedPod(name: string, uid: string): Effect {
  return onSlot(name, (slot) => {
    const isSame = slot.peer !== undefined && madeFrom(slot) === inputsHash(slot.peer.inputs);
    return slot.pod?.ready || isSame ? slot : leaving(slot, uid);
  });
}

export const restartMember: EffectsOf<'restart-member'> = ({ pod: { name, uid }, successor }, observation) => {
  const slot = slotOf(observation, name);
  return oneByOne(
    noteRan(name, slot?.peer?.inputs.version, observation),
    successor && slot && leads(slot) ? moveLeader(successor.memberId) : undefined,
    onSlot(name, (found) => leaving(found, uid)),
  );
};

export const recreatePod: EffectsOf<'recreate-pod'> = ({ pod: { name, uid } }, observation) =>
  oneByOne(
    noteRan(name, slotOf(observation, name)?.peer?.inputs.version, observation),
    onSlot(name, (slot) => (slot.pod?.ready ? slot : leaving(slot, uid))),
  );

/** A deletion with its UID: another pod of that name stays. */
function leaving(slot: Slot, uid: string): Slot {
  return slot.pod?.uid === uid && !slot.pod.leaving ? { ...slot, pod: { ...slot.pod, leaving: true } } : slot;
}
