import { parseQuantity } from '../../../manifests/api/quantity.ts';
import { isHigher } from '../../../manifests/api/version.ts';
import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import type { ActionOf } from '../../../reconcile/cluster/actions.ts';
import type { Inputs } from '../../../reconcile/cluster/effective.ts';
import { formationOfCluster } from '../model/etcd.ts';
import { placeOf, type World } from '../model/state.ts';
import { notesNextVersion } from './births.ts';
import { lettingPodGo, movedLeader } from './members.ts';
import { type Check, changing, type Operation, type Program, refused } from './program.ts';
import { livePlace } from './records.ts';
import { isToldWhatRan, mayRun, notesRan } from './versions.ts';

/** actions/change-template.ts: what its pod ran may go on to this; then volume, peer and StatefulSet. */
export function changeTemplate({ peer: { name, uid }, inputs }: ActionOf<'change-template'>): Program {
  const looks: Operation = {
    what: `sees that ${name} may run ${inputs.version}`,
    name,
    check: (world) => {
      const place = livePlace(world, name);
      if ('refused' in place) return place;
      if (place.peer?.uid !== uid) return refused(`peer ${name} was made anew`);
      return mayRun(world, name, inputs.version) ?? 'go';
    },
  };
  return [looks, notesRan(name, inputs.version), ...newTemplate(name, inputs)];
}

/** actions/member-template.ts: the volume is told first of a version that it never ran. */
function newTemplate(name: string, inputs: Inputs): Program {
  const hash = inputsHash(inputs);
  const notes = notesNextVersion(name, 0, inputs.version);
  // As `updatePeer` has it: only where the peer is told a higher version.
  const isTold = (world: World) => !isHigher(inputs.version, placeOf(world, name)?.peer?.inputs.version ?? '0.0.0');
  const noted: Operation = { ...notes, check: (world) => (isTold(world) ? 'skip' : (notes.check?.(world) ?? 'go')) };
  return [
    noted,
    {
      what: `writes the new configuration on peer ${name}`,
      name,
      check: (world) => {
        const place = livePlace(world, name);
        if ('refused' in place) return place;
        return place.peer && inputsHash(place.peer.inputs) === hash ? 'skip' : 'go';
      },
      write: {
        fence: 'version',
        object: 'peer',
        apply: (world) => changing(world, name, 'peer', (peer) => ({ ...peer, inputs })),
      },
    },
    {
      what: `writes the new template on StatefulSet ${name}`,
      name,
      check: (world) => {
        const set = placeOf(world, name)?.statefulSet;
        return !set || set.inputsHash === hash ? 'skip' : 'go';
      },
      write: {
        fence: 'version',
        object: 'statefulSet',
        apply: (world) =>
          changing(world, name, 'statefulSet', (set) => ({ ...set, inputs, inputsHash: hash, updateRevision: hash })),
      },
    },
  ];
}

/** actions/reconfigure-members.ts: peer, then StatefulSet, then the pod goes, unless it has become Ready. */
export function reconfigureMembers({ peers, inputs }: ActionOf<'reconfigure-members'>): Program {
  return peers.flatMap(({ name, uid }): Operation[] => [
    {
      what: `sees that ${name} is still to be given another configuration`,
      name,
      check: (world) => {
        const place = livePlace(world, name);
        if ('refused' in place) return place;
        if (place.peer?.uid !== uid) return refused(`peer ${name} was made anew`);
        const { pod, statefulSet } = place;
        if (!pod) return 'go';
        const isBack = pod.ready && pod.hash === statefulSet?.inputsHash;
        return mayRun(world, name, inputs.version) ?? (isBack ? refused(`${name} has become Ready since`) : 'go');
      },
    },
    notesRan(name, inputs.version),
    ...newTemplate(name, inputs),
    notesRan(name),
    {
      what: `deletes the pod of ${name}, which is not Ready`,
      name,
      check: (world): Check => {
        const { pod, statefulSet, peer } = placeOf(world, name) ?? {};
        if (!pod || pod.leaving || !statefulSet || pod.hash === statefulSet.inputsHash || pod.ready) return 'skip';
        const no = peer && mayRun(world, name, peer.inputs.version);
        return no ?? (isToldWhatRan(world, name) ? 'go' : refused(`${name} has started since it was looked at`));
      },
      write: { fence: 'version', object: 'pod', apply: (world) => lettingPodGo(world, name) },
    },
  ]);
}

/** actions/restart-member.ts: all others are Ready; leadership moves; the pod goes, by eviction unless there are too few. */
export function restartMember({ pod: { name, uid }, by, successor, cutOff }: ActionOf<'restart-member'>): Program {
  const isIt = (world: World) => {
    const { pod, statefulSet } = placeOf(world, name) ?? {};
    return pod?.uid === uid && !pod.leaving && statefulSet && pod.hash !== statefulSet.inputsHash;
  };
  return [
    {
      what: `sees that all but ${name} are Ready`,
      name,
      check: (world): Check => {
        const place = livePlace(world, name);
        if ('refused' in place) return place;
        if (!isIt(world)) return 'done';
        const no = place.peer && mayRun(world, name, place.peer.inputs.version);
        if (no) return no;
        const down = world.places.find(
          (other) =>
            other.name !== name && other.peer && other.pod && ((!other.pod.ready && !cutOff) || other.pod.leaving),
        );
        return down ? refused(`${down.name} is not Ready any more`) : 'go';
      },
    },
    notesRan(name),
    {
      what: `moves leadership to ${successor?.name ?? 'nobody'}`,
      name,
      check: (world): Check => {
        const process = placeOf(world, name)?.process;
        const leads = process && formationOfCluster(world, successor?.clusterId)?.leader === process.memberId;
        return successor && leads ? 'go' : 'skip';
      },
      write: {
        fence: 'none',
        apply: (world) => (successor ? movedLeader(world, successor.clusterId, successor.memberId) : world),
      },
    },
    {
      what: by === 'eviction' ? `evicts the pod of ${name}` : `deletes the pod of ${name}`,
      name,
      check: (world) => (isIt(world) ? 'go' : 'done'),
      write: {
        fence: 'version',
        object: 'pod',
        admits: (world) => by === 'deletion' || budgetAllows(world),
        apply: (world) => lettingPodGo(world, name),
      },
    },
  ];
}

/** The API server's own look at the disruption budget, when an eviction arrives. */
function budgetAllows({ shared, places }: World): boolean {
  const { state, minAvailable } = shared.disruptionBudget;
  if (state === 'missing' || minAvailable === undefined) return true;
  return places.filter(({ pod }) => pod?.ready && !pod.leaving).length - 1 >= minAvailable;
}

/** actions/grow-volumes.ts: the claim first, and the peer last. */
export function growVolumes({ volumes }: ActionOf<'grow-volumes'>): Program {
  return volumes.flatMap(({ name, uid, size }): Operation[] => [
    {
      what: `asks volume ${name} to grow to ${size}`,
      name,
      check: (world) => {
        const volume = placeOf(world, name)?.volume;
        if (!volume || volume.leaving) return refused(`volume ${name} has gone`);
        return volume.uid === uid && parseQuantity(volume.size) < parseQuantity(size) ? 'go' : 'skip';
      },
      write: {
        fence: 'version',
        object: 'volume',
        apply: (world) => changing(world, name, 'volume', (volume) => ({ ...volume, size })),
      },
    },
    {
      what: `tells peer ${name} the new size`,
      name,
      check: (world) => {
        const place = livePlace(world, name);
        if ('refused' in place) return place;
        return place.volume?.uid !== uid || place.peer?.inputs.storage.size === size ? 'skip' : 'go';
      },
      write: {
        fence: 'version',
        object: 'peer',
        apply: (world) =>
          changing(world, name, 'peer', (peer) => ({
            ...peer,
            inputs: { ...peer.inputs, storage: { ...peer.inputs.storage, size } },
          })),
      },
    },
  ]);
}
