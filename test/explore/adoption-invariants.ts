import { existingOf } from '../../manifests/api/existing-cluster.ts';
import { annotations } from '../../manifests/render/names.ts';
import { approvalOfAdoption } from '../../reconcile/cluster/know/adoption/inherited.ts';
import { quorumOf } from '../../reconcile/cluster/know/membership/quorum.ts';
import { formationOf, runnerOf, runningVoters, serving, votersOf } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import { asksForNoPod } from './model/hands.ts';
import { placeOf, type State, type World } from './model/state.ts';

/**
 * I13: a member of another origin leaves only as a person approved it, by its ID; and none is left without a quorum by
 * what happens to ours, the deletion of all of them included.
 */
export function leavesOthersBe(before: State, event: Event, after: State): string | undefined {
  return (
    removesAsApproved(before.world, event) ??
    begins(before.world, event) ??
    keepsTheirQuorum(before.world, event, after.world)
  );
}

/** When it is sent. What arrives late was right then. */
function removesAsApproved(world: World, { who, write }: Event): string | undefined {
  const { membership } = write ?? {};
  if (membership?.kind !== 'remove' || (who !== 'tick' && who !== 'fault')) return undefined;
  const formation = serving(world);
  const leaver = world.places.find(({ outside, disk }) => outside && disk?.memberId === membership.target);
  if (!formation || !leaver) return undefined;
  const { spec, memory, annotations: given } = world.cluster;
  const existing = existingOf({ spec, status: memory });
  const isNamed = existing?.memberIDs.includes(membership.target) === true;
  if (!existing || !isNamed || given?.[annotations.adopt] !== approvalOfAdoption(existing))
    return `${leaver.name}, a member of others, is removed, and no person approved that`;
  return undefined;
}

/** When the step is decided: it may come back before it leaves. */
function begins(world: World, { action, begins: isBegun }: Event): string | undefined {
  if (!isBegun || action?.kind !== 'remove-inherited') return undefined;
  const formation = serving(world);
  const leaver = world.places.find(({ outside, disk }) => outside && disk?.memberId === action.memberId);
  if (!formation || !leaver?.process) return undefined;
  const ours = votersOf(formation).filter(({ id }) => runnerOf(world, formation, id)?.outside === undefined);
  const running = ours.filter(({ id }) => runnerOf(world, formation, id));
  const { replicas } = world.cluster.spec;
  return running.length < replicas
    ? `${leaver.name}, a member of others that serves, is to leave, and ${running.length} of ${replicas} of ours run`
    : undefined;
}

/** Also where ours go by a deletion, which for a cluster of ours alone is a person's. */
function keepsTheirQuorum(before: World, { who, what, write }: Event, after: World): string | undefined {
  // What gets through of an invocation that dies, or arrives late, is ours as well.
  if (who !== 'tick' && who !== 'world' && write === undefined) return undefined;
  // Another client has ended it, and no rule of ours.
  if (before.places.some(({ statefulSet }) => asksForNoPod(statefulSet))) return undefined;
  for (const formation of after.formations) {
    const voters = votersOf(formation);
    const others = voters.filter(({ id }) => after.places.some((one) => one.outside && one.disk?.memberId === id));
    const earlier = formationOf(before, formation.id);
    // A restart of one of two is the named exception of I1, also where others delete a pod; a deletion is none.
    const isOthers = !before.cluster.deleting || endsByOthers(before, after);
    if (!earlier || others.length === 0 || (voters.length < 3 && isOthers)) continue;
    const had = runningVoters(before, earlier).length >= quorumOf(votersOf(earlier).length);
    const left = runningVoters(after, formation).filter(({ id }) => who === 'world' || !isTaken(before, after, id));
    if (had && left.length < quorumOf(voters.length)) return `members of others have no quorum any more: ${what}`;
  }
  return undefined;
}

/**
 * What ends is made anew, as its StatefulSet stays; or others deleted that, or its peer, and with it all that it owned.
 * Where we delete one of the two, that write is judged.
 */
function endsByOthers(before: World, after: World): boolean {
  const byOwner = before.cluster.gone === true;
  return before.places.some(
    ({ name, process, statefulSet, peer }) =>
      process && (statefulSet || peer || !byOwner) && !placeOf(after, name)?.process,
  );
}

/** By this write of ours it ends soon. */
function isTaken(before: World, after: World, memberId: string): boolean {
  const place = before.places.find(({ process }) => process?.memberId === memberId);
  const then = place && placeOf(after, place.name);
  return Boolean((place?.peer && !then?.peer) || (place?.statefulSet && !then?.statefulSet));
}
