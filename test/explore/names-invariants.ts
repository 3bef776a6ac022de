import { annotations } from '../../manifests/render/names.ts';
import { type Decision, refusalsOf } from '../../reconcile/cluster/know/decision.ts';
import type { Event } from './model/event.ts';
import { recordIn } from './model/objects.ts';
import { type Place, placeOf, type State, type World } from './model/state.ts';

/**
 * I1, of names: no member is told to let in names only before a person agreed, every volume says so, and every member
 * has a certificate with its name, and shows it. What arrives late was right when it was sent.
 */
export function asksAsApproved({ world: before }: State, { who }: Event, { world: after }: State): string | undefined {
  if (!before.ours || (who !== 'tick' && who !== 'fault')) return undefined;
  const told = after.places.find((place) => isToAsk(place) && !isToAsk(placeOf(before, place.name)));
  if (!told) return undefined;
  const why = whyNotYet(before);
  return why && `${told.name} is to let in names only, and ${why}`;
}

function isToAsk(place: Place | undefined): boolean {
  return place?.statefulSet?.inputs.tls.allowedNames !== undefined;
}

function whyNotYet({ cluster, ours, places }: World): string | undefined {
  if (!cluster.agreedToNames) return 'no person has agreed';
  const members = places.filter(({ peer }) => peer?.current);
  const isFirst = !members.some(isToAsk);
  const silent = members.find((place) => recordIn(place) && !recordIn(place)?.allowedNames);
  if (isFirst && silent) return `volume ${silent.name} does not say so`;
  if (!ours?.named) return 'the certificate of etcd-ratchet has no name';
  const nameless = places.find(
    ({ leaf, process }) => (leaf && !leaf.named) || (process?.shows && !process.shows.named),
  );
  return nameless && `${nameless.name} does not show its name`;
}

/** At rest, no person is asked for names that are approved; and where nothing else is left, one is asked. */
export function asksAgain(decision: Decision, { ours, cluster }: World): string | undefined {
  if (!ours) return undefined;
  const isGiven = refusalsOf(decision).some(
    ({ approval }) =>
      approval?.annotation === annotations.takeNames && cluster.annotations?.[approval.annotation] === approval.value,
  );
  if (isGiven) return `it asks for an approval that it has: ${decision.reason}`;
  const isLast = decision.kind === 'refuse' && decision.reason === 'NamesNotApproved';
  return isLast && !decision.approval ? `all else is done, and names are not taken: ${decision.message}` : undefined;
}

/** At rest, members let in alike: as the spec asks, once it was approved, or all as before. */
export function asksByHalves({ ours, places }: World): string | undefined {
  if (!ours) return undefined;
  const running = places.filter(({ process }) => process);
  const asking = running.filter(({ process }) => process?.asks);
  if (asking.length === 0 || asking.length === running.length) return undefined;
  return `it is done, and ${asking.length} members of ${running.length} let in names only`;
}
