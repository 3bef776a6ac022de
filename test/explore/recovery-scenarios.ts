import { revisionsAhead } from '../../manifests/render/revisions.ts';
import type { Change } from './model/git.ts';
import { startedAnew, withoutNodes, withoutPods, withoutVolumes } from './model/losses.ts';
import { recordIn } from './model/objects.ts';
import type { Consent } from './model/person.ts';
import type { World } from './model/state.ts';
import { healthy } from './model/worlds.ts';
import { begun, recovered } from './recovered.ts';
import { one, type Scenario } from './scenario.ts';

const approves: Consent = { what: 'a person approves what the refusal says', person: 'approves' };
const saysOff: Consent = { what: 'a person says that the nodes are off', person: 'says that nodes are off' };

const two: Change = { what: 'replicas: 2', spec: { replicas: 2 } };
const three: Change = { what: 'replicas: 3', spec: { replicas: 3 } };

const whole = healthy({}, 8);
const volumeAndNode = withoutNodes(withoutVolumes(whole, [1]), 'node', [2]);
const deadNodes = withoutNodes(whole, 'node', [1, 2]);
const cutOff = withoutNodes(whole, 'cut', [1, 2]);
const deletedByForce = withoutPods(cutOff, [1, 2]);
const volumes = withoutVolumes(whole, [1, 2]);
const ofFour = withoutVolumes(lagging(healthy({ replicas: 4 }, 8)), [2, 3]);
const goneOn = () => recovered(alone(volumes));
const inPlace = (world: World) => alone(exhausted(world));

/**
 * When a quorum is lost, and a person approves that it goes on without the others. How it grows back is searched by
 * itself: where much happens, one member is as many as are asked for.
 */
export const recoveryScenarios: readonly Scenario[] = [
  one('quorum of 3 lost', volumeAndNode, [approves, saysOff], { death: 1, late: 1 }, 1),
  one('quorum of 3 lost, a node comes back', alone(deadNodes), [approves, saysOff], { returns: 2 }, 2),
  one('quorum of 3 cut off, and comes back', () => begun(alone(cutOff)), [], { returns: 2, force: 1 }, 3),
  one('quorum of 3 cut off, pods deleted', () => begun(alone(deletedByForce)), [], { returns: 2 }, 2),
  one('quorum of 3 comes back, and goes', alone(cutOff), [approves, approves], { returns: 1, cut: 1 }, 2),
  one('quorum of 3 lost, started anew', alone(startedAnew(volumes)), [approves], { crash: 1, death: 1, late: 1 }, 2),
  one('quorum of 4 lost, started anew', alone(startedAnew(ofFour)), [approves], { crash: 1, death: 1 }, 1),
  one('recovery, and its holder dies', alone(volumes), [approves], { death: 2, late: 1, again: 1, second: 1 }, 2),
  one('recovery, and its Job is lost', alone(volumes), [approves], { jobPod: 1, kill: 1, death: 1, late: 1 }, 2),
  one(
    'recovery, and there is no room',
    alone(volumes),
    [approves, approves],
    { cramped: 1, trial: 1, death: 1, late: 1, kill: 1 },
    2,
  ),
  one(
    'recovery, and its disk is lost',
    alone(volumes),
    [approves],
    { wipe: 1, lost: 1, claim: 1, node: 1, crash: 1 },
    1,
  ),
  one('recovery, and lost volumes come back', alone(volumes), [approves], { restore: 2 }, 2),
  one('recovered, and lost volumes come back', goneOn, [], { restore: 2, crash: 1, eviction: 1, death: 1 }, 3),
  one(
    'forced in place, and its Job is lost',
    inPlace(volumes),
    [approves],
    { jobPod: 1, kill: 1, death: 1, late: 1 },
    2,
  ),
  one('forced in place, a node comes back', inPlace(deadNodes), [approves, saysOff], { returns: 2 }, 2),
  one('forced in place, cut off, and comes back', () => begun(inPlace(cutOff)), [], { returns: 2, force: 1 }, 3),
  one(
    'forced in place, lost volumes come back',
    () => recovered(inPlace(volumes)),
    [],
    { restore: 2, crash: 1, eviction: 1, death: 1 },
    3,
  ),
  one('regrowth, and a lost volume comes back', goneOn, [two], { restore: 1, death: 1 }, 1),
  one('regrowth, and both of them come back', goneOn, [two], { restore: 2 }, 2),
];

/** For random walks. */
export const wildRecoveries: readonly Scenario[] = [
  one(
    'wild recovery',
    withoutNodes(withoutVolumes(healthy({}, 12), [1]), 'cut', [2]),
    [approves, saysOff, approves, three],
    {
      ...{ death: 3, late: 3, again: 2, second: 1, crash: 2, eviction: 1, wipe: 1, claim: 1, lost: 1, status: 1 },
      ...{ node: 2, cut: 2, returns: 4, force: 2, restore: 1, jobPod: 2, kill: 2, set: 1, configMap: 1, leader: 1 },
    },
    9,
  ),
  one(
    'wild regrowth',
    () => recovered(alone(withoutVolumes(healthy({}, 12), [1, 2]))),
    [three, approves, saysOff],
    {
      ...{ death: 3, late: 3, again: 2, second: 1, crash: 2, wipe: 1, claim: 1, lost: 2, node: 2 },
      ...{ cut: 1, returns: 3, force: 1, restore: 2, jobPod: 1, kill: 1, peer: 1 },
    },
    9,
  ),
];

function alone({ cluster, ...world }: World): World {
  return { ...world, cluster: { ...cluster, spec: { ...cluster.spec, replicas: 1 } } };
}

/** No revisions are left below 2^53 for another life. */
function exhausted(world: World): World {
  const revisionFloor = Number.MAX_SAFE_INTEGER - revisionsAhead;
  const places = world.places.map((place) => {
    const record = recordIn(place);
    if (!place.volume || !record) return place;
    return {
      ...place,
      volume: { ...place.volume, record: { kind: 'valid', record: { ...record, revisionFloor } } as const },
    };
  });
  return { ...world, places };
}

/** The first member has missed the last writes. */
function lagging(world: World): World {
  const places = world.places.map((place) =>
    place.ordinal === 0 && place.disk ? { ...place, disk: { ...place.disk, behind: true } } : place,
  );
  return { ...world, places };
}
