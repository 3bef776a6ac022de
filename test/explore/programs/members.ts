import { isDeepStrictEqual } from 'node:util';
import { unstarted, type VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ActionOf } from '../../../reconcile/cluster/actions.ts';
import { quorumOf } from '../../../reconcile/cluster/quorum.ts';
import {
  formationOfCluster,
  hasQuorum,
  runnerOf,
  runningVoters,
  serving,
  settleEtcd,
  votersOf,
  withFormation,
} from '../model/etcd.ts';
import { clusterIdOf } from '../model/lineage.ts';
import { urlOf } from '../model/look.ts';
import { type Formation, lacking, type Place, placeOf, type World, withoutPeer, withPlace } from '../model/state.ts';
import { freshMemberId } from '../model/uids.ts';
import { lettingGo } from './births.ts';
import { type Check, changing, type Operation, type Program, refused, settled } from './program.ts';
import { followsRecord, livePlace, recordIn, writesRecord } from './records.ts';
import { isToldWhatRan, mayRun, notesRan } from './versions.ts';

/** actions/seal-members.ts: first the volumes remember it, then the ConfigMaps follow and become immutable. */
export function sealMembers({ clusterId, members }: ActionOf<'seal-members'>): Program {
  const volumes = members.map(({ name, memberId, version }) =>
    writesRecord(
      name,
      `seals volume ${name}`,
      (record) => {
        if (record.state === 'sealed' && record.memberId === memberId) return undefined;
        if (!mayBeSealed.has(record.state)) return refused(`volume ${name} is ${record.state}`);
        const { recovery: _, mayHaveStarted: __, ...rest } = record;
        const born = record.state === 'bootstrapping' && minorText(record.version) === minorText(version);
        return {
          ...rest,
          state: 'sealed',
          clusterId,
          memberId,
          version,
          ...(born && { minorSince: { minor: minorText(version), index: '0' } }),
        };
      },
      { beside: 1 },
    ),
  );
  return [
    ...volumes,
    ...members.map(({ name }) => unmarksStarted(name, 2)),
    ...members.map(({ name }) => followsRecord(name, 3)),
  ];
}

const mayBeSealed: ReadonlySet<VolumeRecord['state']> = new Set(['bootstrapping', 'joining', 'recovered']);

function minorText(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

/** actions/follow-volumes.ts */
export function followVolumes({ peers }: ActionOf<'follow-volumes'>): Program {
  return [...peers.map((name) => unmarksStarted(name, 1)), ...peers.map((name) => followsRecord(name, 2))];
}

/** A mark that arrived when its member had started would outlive the ConfigMap. */
function unmarksStarted(name: string, beside: number): Operation {
  return {
    what: `takes the mark off peer ${name}`,
    name,
    beside,
    check: (world) => {
      const place = livePlace(world, name);
      if ('refused' in place) return place;
      const isMarked = place.peer?.replacingVolume !== undefined && recordIn(place)?.state !== 'bootstrapping';
      return isMarked ? 'go' : 'skip';
    },
    write: {
      fence: 'version',
      object: 'peer',
      apply: (world) => changing(world, name, 'peer', (peer) => lacking(peer, 'replacingVolume')),
    },
  };
}

/** actions/add-learner.ts: the list as it will be goes on its volume, then it is put on the list. */
export function addLearner({ name, url, clusterId }: ActionOf<'add-learner'>): Program {
  const others = (formation: Formation) => formation.members.filter((member) => member.name !== name);
  const joinable = (world: World) => {
    const list = settled(serving(world), clusterId);
    if ('refused' in list) return list;
    const other = others(list).find(({ learner, published }) => learner || !published);
    return other ? refused(`${other.name} has not joined yet`) : list;
  };
  return [
    {
      what: 'reads the member list',
      name,
      check: (world): Check => {
        const place = livePlace(world, name);
        if ('refused' in place) return place;
        const state = recordIn(place)?.state;
        if (state !== 'joining') return refused(`volume ${name} is ${state}`);
        const list = joinable(world);
        return 'refused' in list ? list : 'go';
      },
    },
    writesRecord(name, `writes the member list on volume ${name}`, (record, _, world) => {
      const list = joinable(world);
      if ('refused' in list) return list;
      if (record.state !== 'joining') return refused(`volume ${name} is ${record.state}`);
      const initialCluster = [...others(list).map((one) => ({ name: one.name, url: urlOf(one.name) })), { name, url }];
      if (isDeepStrictEqual(record.initialCluster, initialCluster)) return undefined;
      return { ...record, initialCluster, clusterId };
    }),
    {
      what: `adds ${name} to the member list as a learner`,
      name,
      check: (world) => (serving(world)?.members.some((member) => member.name === name) ? 'done' : 'go'),
      write: {
        fence: 'none',
        membership: { kind: 'add', target: name },
        admits: (world, late) => {
          const formation = serving(world);
          if (!formation || clusterIdOf(formation) !== clusterId) return false;
          if (formation.members.some((member) => member.name === name || member.learner)) return false;
          return late || runningVoters(world, formation).length === votersOf(formation).length;
        },
        apply: (world, referred) => {
          const formation = serving(world);
          if (!formation) return world;
          const id = freshMemberId(world, referred);
          const members = [...formation.members, { id, name, published: false, learner: true }];
          return withFormation(world, { ...formation, members });
        },
      },
    },
  ];
}

/** actions/promote-learner.ts: volume and ConfigMap say that it is sealed, at this moment. */
export function promoteLearner({ name, memberId, clusterId }: ActionOf<'promote-learner'>): Program {
  return [
    {
      what: `sees that ${name} is sealed`,
      name,
      check: (world) => {
        const place = placeOf(world, name);
        const record = place && recordIn(place);
        const isSealed = record?.state === 'sealed' && record.memberId === memberId && place?.configMap?.immutable;
        return isSealed && !place.volume?.leaving ? 'go' : refused(`${name} is not sealed as member ${memberId}`);
      },
    },
    {
      what: `promotes ${name}`,
      name,
      write: {
        fence: 'none',
        membership: { kind: 'promote', target: memberId },
        admits: (world) => {
          const formation = serving(world);
          const member = formation?.members.find(({ id }) => id === memberId);
          if (!formation || clusterIdOf(formation) !== clusterId || !member?.learner) return false;
          return runnerOf(world, formation, memberId)?.disk?.behind === false;
        },
        apply: (world) => {
          const formation = serving(world);
          if (!formation) return world;
          const members = formation.members.map((one) => (one.id === memberId ? { ...one, learner: false } : one));
          return settleEtcd(withFormation(world, { ...formation, members }));
        },
      },
    },
  ];
}

/** actions/remove-member.ts: a quorum of the others answers; the volume is marked; leadership moves; it is removed. */
export function removeMember(action: ActionOf<'remove-member'>): Program {
  const { name, memberId, clusterId, volume, successor, replacedAt } = action;
  const marks = writesRecord(
    name,
    `marks volume ${name} releasing`,
    (record, place) => {
      if (place.volume?.uid !== volume?.uid) return refused(`volume ${name} is another one`);
      if (record.state === 'releasing') return undefined;
      if (record.memberId !== undefined && record.memberId !== memberId) return refused(`volume ${name} is another's`);
      return {
        ...unstarted(record),
        memberId,
        clusterId,
        state: 'releasing',
        ...(replacedAt !== undefined && { replacedAt }),
      };
    },
    { alsoLeaving: true },
  );
  const isLeader = (world: World) => formationOfCluster(world, clusterId)?.leader === memberId;
  return [
    {
      what: `sees that the others are a quorum without ${name}`,
      name,
      check: (world): Check => {
        const list = settled(serving(world), clusterId);
        if ('refused' in list) return list;
        if (!list.members.some(({ id }) => id === memberId)) return 'done';
        const voters = votersOf(list).filter(({ id }) => id !== memberId);
        const following = voters.filter(({ id }) => runnerOf(world, list, id));
        return following.length >= quorumOf(voters.length) ? 'go' : refused(`without ${name} there is no quorum`);
      },
    },
    forestallsOthers(name, memberId),
    ...(volume ? [marks] : []),
    {
      what: `moves leadership to ${successor?.name ?? 'nobody'}`,
      name,
      check: (world): Check => {
        if (!isLeader(world)) return 'skip';
        return successor ? 'go' : refused(`${name} leads, and nobody else could`);
      },
      write: {
        fence: 'none',
        admits: (world) => {
          const formation = formationOfCluster(world, clusterId);
          return formation !== undefined && votersOf(formation).some(({ id }) => id === successor?.memberId);
        },
        apply: (world) => movedLeader(world, clusterId, successor?.memberId),
      },
    },
    {
      what: `removes ${name} from the member list`,
      name,
      write: {
        fence: 'none',
        membership: { kind: 'remove', target: memberId },
        admits: (world, late) => mayRemove(world, action, late),
        apply: (world) => {
          const formation = serving(world);
          if (!formation) return world;
          const members = formation.members.filter(({ id }) => id !== memberId);
          return settleEtcd(withFormation(world, { ...formation, members }));
        },
      },
    },
  ];
}

/** actions/forestall-removals.ts: no other one was begun, and a mark of one that is on its way fails. */
function forestallsOthers(name: string, memberId: string): Operation {
  const isReleasing = (place: Place | undefined) => place !== undefined && recordIn(place)?.state === 'releasing';
  const isWritten = (place: Place) => {
    const state = recordIn(place)?.state;
    return place.name !== name && state !== undefined && state !== 'released' && state !== 'superseded';
  };
  return {
    what: `writes to the volumes of all but ${name}`,
    name,
    check: (world): Check => {
      const place = placeOf(world, name);
      if (isReleasing(place) && place && recordIn(place)?.memberId === memberId) return 'skip';
      const listed = serving(world)?.members ?? [];
      const begun = world.places.find(
        (one) => one.name !== name && isReleasing(one) && listed.some(({ id }) => id === recordIn(one)?.memberId),
      );
      return begun ? refused(`the removal of ${begun.name} was begun as well`) : 'go';
    },
    write: {
      fence: 'version',
      apply: (world) => ({
        ...world,
        places: world.places.map((one) => (one.volume && isWritten(one) ? { ...one, volume: { ...one.volume } } : one)),
      }),
    },
  };
}

/** strict-reconfig-check, as of the moment in which etcd is asked; what was accepted then is committed whenever there is a quorum. */
function mayRemove(world: World, { memberId, clusterId }: ActionOf<'remove-member'>, late: boolean): boolean {
  const formation = serving(world);
  const member = formation?.members.find(({ id }) => id === memberId);
  if (!formation || clusterIdOf(formation) !== clusterId || !member) return false;
  if (late || member.learner) return true;
  if (formation.leader === memberId) return false;
  const rest = votersOf(formation).filter(({ id }) => id !== memberId);
  if (rest.filter(({ published }) => published).length < quorumOf(rest.length)) return false;
  if (!runnerOf(world, formation, memberId)) return true;
  return runningVoters(world, formation).length - 1 >= quorumOf(rest.length);
}

export function movedLeader(world: World, clusterId: string, to: string | undefined): World {
  const formation = formationOfCluster(world, clusterId);
  const place = formation && to !== undefined && runnerOf(world, formation, to);
  if (!formation || !place || place.disk?.behind || !hasQuorum(world, formation)) return world;
  return withFormation(world, { ...formation, leader: to });
}

/** actions/retire-member.ts: it is off the list; its volume says so, and goes, unless it is kept; then its peer. */
export function retireMember({ name, clusterId, peer, volume, url }: ActionOf<'retire-member'>): Program {
  const isIt = (world: World) => placeOf(world, name)?.volume?.uid === volume?.uid;
  const looks: Operation = {
    what: `sees that ${name} is not on the member list`,
    name,
    check: (world) => {
      const list = settled(serving(world), clusterId);
      if ('refused' in list) return list;
      const listed = list.members.some((one) => one.id === volume?.memberId || urlOf(one.name) === url);
      return listed ? refused(`${name} is a member still`) : 'go';
    },
  };
  const releases =
    volume &&
    writesRecord(
      name,
      `marks volume ${name} ${volume.state}`,
      (record, place) => {
        if (place.volume?.uid !== volume.uid) return undefined;
        const other = record.clusterId !== undefined && record.clusterId !== clusterId;
        if (record.memberId !== volume.memberId || other) return refused(`volume ${name} is another's`);
        return record.state === volume.state ? undefined : { ...record, state: volume.state };
      },
      { alsoLeaving: true },
    );
  const deletes: Operation = {
    what: `deletes volume ${name}`,
    name,
    check: (world) => (isIt(world) && !placeOf(world, name)?.volume?.leaving ? 'go' : 'skip'),
    write: { fence: 'version', object: 'volume', apply: (world) => lettingGo(world, name) },
  };
  // One that has gone since it was looked at is nothing to release, and no reason to stop.
  const skipsGone = releases && {
    ...releases,
    check: (world: World) => (isIt(world) ? (releases.check?.(world) ?? 'go') : 'skip'),
  };
  return [
    looks,
    ...(skipsGone ? [skipsGone] : []),
    ...(volume && !volume.keep ? [deletes] : []),
    ...(peer ? [deletesPeer(peer)] : []),
  ];
}

/** actions/delete-replaced-volume.ts: its member is off the list, nothing of it is left, and it says so itself. */
export function deleteReplacedVolume({ volume, memberId, clusterId }: ActionOf<'delete-replaced-volume'>): Program {
  const { name, uid } = volume;
  return [
    {
      what: `sees that ${name} is not on the member list`,
      name,
      check: (world) => {
        const list = settled(serving(world), clusterId);
        if ('refused' in list) return list;
        return list.members.some(({ id }) => id === memberId) ? refused(`${name} is a member still`) : 'go';
      },
    },
    {
      what: `deletes volume ${name}, which was kept`,
      name,
      check: (world) => {
        const place = placeOf(world, name);
        if (place?.volume?.uid !== uid || place.volume.leaving) return 'done';
        const record = recordIn(place);
        const isIt = record?.state === 'released' && record.memberId === memberId && record.replacedAt !== undefined;
        if (!isIt || place.peer || place.statefulSet || place.pod) return refused(`volume ${name} is in use`);
        return 'go';
      },
      write: { fence: 'version', object: 'volume', apply: (world) => lettingGo(world, name) },
    },
  ];
}

export function deletesPeer(
  { name, uid }: { readonly name: string; readonly uid: string },
  beside?: number,
): Operation {
  return {
    what: `deletes peer ${name}`,
    name,
    ...(beside !== undefined && { beside }),
    check: (world) => (placeOf(world, name)?.peer?.uid === uid ? 'go' : 'skip'),
    write: {
      fence: 'uid',
      object: 'peer',
      apply: (world) => withPlace(world, name, withoutPeer),
    },
  };
}

/** actions/hibernate-members.ts: every volume is told before the first member stops. */
export function hibernateMembers({ volumes, statefulSets }: ActionOf<'hibernate-members'>): Program {
  const sets = statefulSets.map(
    ({ name, uid }): Operation => ({
      what: `deletes StatefulSet ${name}`,
      name,
      beside: 2,
      check: (world) => (placeOf(world, name)?.statefulSet?.uid === uid ? 'go' : 'skip'),
      write: {
        fence: 'uid',
        object: 'statefulSet',
        apply: (world) => withPlace(world, name, (place) => lacking(place, 'statefulSet')),
      },
    }),
  );
  return [...volumes.map((volume) => turns(volume, 'sealed', 'hibernating')), ...sets];
}

export function wakeMembers({ volumes }: ActionOf<'wake-members'>): Program {
  return volumes.map((volume) => turns(volume, 'hibernating', 'sealed'));
}

function turns(
  { name, uid }: { readonly name: string; readonly uid: string },
  from: 'sealed' | 'hibernating',
  to: 'sealed' | 'hibernating',
): Operation {
  return writesRecord(
    name,
    `marks volume ${name} ${to}`,
    (record, { volume }) => {
      if (volume?.uid !== uid) return refused(`volume ${name} is another one`);
      if (record.state === to) return undefined;
      return record.state === from ? { ...record, state: to } : refused(`volume ${name} is ${record.state}`);
    },
    { beside: 1 },
  );
}

/** actions/recreate-pod.ts */
export function recreatePod({ pod: { name, uid } }: ActionOf<'recreate-pod'>): Program {
  const may = (world: World): Check => {
    const place = livePlace(world, name);
    if ('refused' in place) return place;
    const { pod, peer } = place;
    if (pod?.uid !== uid || pod.leaving) return 'done';
    if (pod.ready) return refused(`${name} has become Ready`);
    return (peer && mayRun(world, name, peer.inputs.version)) ?? 'go';
  };
  return [
    { what: `sees that ${name} may start anew`, name, check: may },
    notesRan(name),
    {
      what: `deletes the pod of ${name}, which is not Ready`,
      name,
      check: (world) => {
        const check = may(world);
        if (check !== 'go') return check;
        return isToldWhatRan(world, name) ? 'go' : refused(`${name} has started since it was looked at`);
      },
      write: { fence: 'version', object: 'pod', apply: (world) => lettingPodGo(world, name) },
    },
  ];
}

export function lettingPodGo(world: World, name: string): World {
  return settleEtcd(changing(world, name, 'pod', (pod) => ({ ...pod, leaving: true, ready: false })));
}
