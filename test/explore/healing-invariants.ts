import { annotations } from '../../manifests/render/names.ts';
import { runnerOf, serving } from './model/etcd.ts';
import type { Event } from './model/event.ts';
import { recordIn } from './model/objects.ts';
import type { State, World } from './model/state.ts';

/**
 * I14: with `spec.healing.mode: Manual` no step begins that gives up a dead voter, unless a person approved that one.
 *
 * Looked at when the step begins: what was approved then may be taken back while its requests are on their way.
 */
export function healsAsApproved({ world }: State, { action, begins }: Event): string | undefined {
  if (!begins || action?.kind !== 'remove-member' || world.cluster.spec.healing?.mode !== 'Manual') return undefined;
  const { memberId, name } = action;
  if (!isDeadVoter(world, memberId) || isOnItsWay(world, name)) return undefined;
  const { annotations: given, givenUp } = world.cluster;
  if (given?.[annotations.replaceMember] !== undefined && givenUp === memberId) return undefined;
  return `${name} is given up, and no person approved that`;
}

function isDeadVoter(world: World, memberId: string): boolean {
  const formation = serving(world);
  const member = formation?.members.find(({ id }) => id === memberId);
  return formation !== undefined && member?.learner === false && !runnerOf(world, formation, memberId);
}

/** Its removal was begun; or its volume goes with its pod, and another one votes in its place. */
function isOnItsWay({ places }: World, name: string): boolean {
  const place = places.find((one) => one.name === name);
  return (place && recordIn(place)?.state === 'releasing') || place?.volume?.leaving === true;
}
