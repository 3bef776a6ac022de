import { isHigher } from '../../../manifests/api/version.ts';
import { bootstrapVariables, isSealed } from '../../../manifests/build/bootstrap-variables.ts';
import { inputsHash } from '../../../manifests/build/inputs-hash.ts';
import { isUnstarted, type VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ActionOf } from '../../../reconcile/cluster/actions.ts';
import type { PeerView } from '../../../reconcile/cluster/observation.ts';
import { settleEtcd } from '../model/etcd.ts';
import { lacking, placeOf, type World, withoutVolume, withPlace } from '../model/state.ts';
import { freshUid } from '../model/uids.ts';
import { changing, type Operation, type Program, refused } from './program.ts';
import { livePlace, recordIn, writesRecord } from './records.ts';

/** actions/prepare-members.ts: all volumes, then all peers, then all ConfigMaps; each by POST. */
export function prepareMembers({ members, inputs }: ActionOf<'prepare-members'>): Program {
  const volumes = members.map(
    ({ name, record }): Operation => ({
      what: `creates volume ${name}`,
      name,
      beside: 1,
      check: (world) => {
        const place = placeOf(world, name);
        const found = place && recordIn(place);
        if (!place?.volume) return 'go';
        return found?.token === record.token && !place.volume.leaving
          ? 'skip'
          : refused(`there is another volume ${name}`);
      },
      write: {
        fence: 'absent',
        object: 'volume',
        apply: (world, referred) =>
          withPlace(world, name, (place) => ({
            ...place,
            volume: {
              uid: freshUid('volume', place, referred),
              leaving: false,
              record: { kind: 'valid', record: withoutStart(record) },
              bound: false,
              lost: false,
              size: String(inputs.storage.size),
            },
          })),
      },
    }),
  );
  const peers = members.map(
    ({ name, record }): Operation => ({
      what: `creates peer ${name}`,
      name,
      beside: 2,
      check: (world) => {
        const place = placeOf(world, name);
        if (!place?.peer) return place?.volume ? 'go' : refused(`volume ${name} has gone`);
        return place.peer.current ? 'skip' : refused(`there is another peer ${name}`);
      },
      write: {
        fence: 'absent',
        object: 'peer',
        apply: (world, referred) =>
          withPlace(world, name, (place) => ({
            ...place,
            peer: {
              uid: freshUid('peer', place, referred),
              leaving: false,
              current: true,
              inputs:
                place.volume && !place.volume.bound ? { ...inputs, storage: { size: place.volume.size } } : inputs,
              bootstrap: {
                token: record.token,
                initialCluster: [...record.initialCluster],
                state: record.state === 'joining' ? 'Existing' : 'New',
              },
            },
          })),
      },
    }),
  );
  const marked = members.flatMap(({ name }) => unmarks(name));
  return [...volumes, ...peers, ...marked, ...members.map(({ name, record }) => createsConfigMap(name, record))];
}

function createsConfigMap(name: string, record: ActionOf<'prepare-members'>['members'][number]['record']): Operation {
  return {
    what: `creates ConfigMap ${name}`,
    name,
    beside: 3,
    check: (world) => {
      const place = livePlace(world, name);
      if ('refused' in place) return place;
      if (place.configMap && !place.configMap.current) return refused(`ConfigMap ${name} is that of an earlier claim`);
      return place.configMap ? 'skip' : 'go';
    },
    write: {
      fence: 'absent',
      object: 'configMap',
      say: (world) => {
        const place = placeOf(world, name);
        return { record: (place && recordIn(place)) ?? record, owner: place?.volume?.uid };
      },
      apply: (world, referred, said) =>
        withPlace(world, name, (place) => {
          const { record: known, owner } = said as { readonly record: typeof record; readonly owner: string };
          const variables = bootstrapVariables(known, name);
          const configMap = {
            uid: freshUid('config', place, referred),
            leaving: false,
            current: place.volume?.uid === owner,
            initialCluster: variables.ETCD_INITIAL_CLUSTER,
            initialClusterState: variables.ETCD_INITIAL_CLUSTER_STATE,
            immutable: isSealed(known.state),
          };
          return { ...place, configMap };
        }),
    },
  };
}

/** A claim that is made says nothing of an earlier one's start. */
function withoutStart({ mayHaveStarted: _, ...record }: VolumeRecord): VolumeRecord {
  return record;
}

/** The volume that was made anew says that it may be started from now on, then the mark goes. */
function unmarks(name: string): readonly Operation[] {
  const isMarked = (world: World) => placeOf(world, name)?.peer?.replacingVolume !== undefined;
  const note = notesFirstStart(name);
  return [
    { ...note, check: (world) => (isMarked(world) ? (note.check?.(world) ?? 'go') : 'skip') },
    {
      what: `takes the mark off peer ${name}`,
      name,
      check: (world) => (isMarked(world) ? 'go' : 'skip'),
      write: {
        fence: 'version',
        object: 'peer',
        apply: (world) => changing(world, name, 'peer', (peer) => lacking(peer, 'replacingVolume')),
      },
    },
  ];
}

/** actions/start-members.ts: each volume is there, and its ConfigMap says what it says. */
export function startMembers({ peers }: ActionOf<'start-members'>): Program {
  const looks: Operation = {
    what: `sees that the volumes and ConfigMaps of ${peers.join(', ')} agree`,
    check: (world) => peers.map((name) => mayStart(world, name)).find((why) => why !== undefined) ?? 'go',
  };
  const notes = peers.flatMap((name) => [notesFirstStart(name, 1), notesNextVersion(name, 1)]);
  const sets = peers.map(
    (name): Operation => ({
      what: `creates StatefulSet ${name}`,
      name,
      beside: 2,
      check: (world) => {
        const place = livePlace(world, name);
        if ('refused' in place) return place;
        return place.statefulSet ? 'skip' : 'go';
      },
      write: {
        fence: 'absent',
        object: 'statefulSet',
        say: (world) => placeOf(world, name)?.peer,
        apply: (world, referred, said) =>
          withPlace(world, name, (place) => {
            const { uid: owner, inputs } = said as PeerView;
            const hash = inputsHash(inputs);
            const uid = freshUid('set', place, referred);
            const current = place.peer?.uid === owner;
            return {
              ...place,
              statefulSet: { uid, leaving: false, current, inputs, inputsHash: hash, updateRevision: hash },
            };
          }),
      },
    }),
  );
  return [looks, ...notes, ...sets];
}

function mayStart(world: World, name: string): { readonly refused: string } | undefined {
  const place = livePlace(world, name);
  if ('refused' in place) return place;
  const record = recordIn(place);
  if (!record || place.volume?.leaving) return refused(`volume ${name} has gone`);
  const wanted = bootstrapVariables(record, name);
  const { configMap } = place;
  const agrees =
    configMap?.current &&
    configMap.initialCluster === wanted.ETCD_INITIAL_CLUSTER &&
    configMap.initialClusterState === wanted.ETCD_INITIAL_CLUSTER_STATE;
  return agrees ? undefined : refused(`ConfigMap ${name} does not say what its volume says`);
}

/** actions/first-start.ts */
function notesFirstStart(name: string, beside?: number): Operation {
  return writesRecord(
    name,
    `notes on volume ${name} that its member may have started`,
    (record) => (isUnstarted(record) ? { ...record, mayHaveStarted: true } : undefined),
    beside === undefined ? {} : { beside },
  );
}

/** Before a version may be started for the first time, its volume says that it may have been. */
export function notesNextVersion(name: string, beside: number, version?: string): Operation {
  return writesRecord(
    name,
    `notes on volume ${name} which version may run next`,
    (record, { peer }) => {
      const next = version ?? peer?.inputs.version ?? record.version;
      if (record.state === 'bootstrapping' || !isHigher(next, record.version)) return undefined;
      if (record.nextVersion !== undefined && !isHigher(next, record.nextVersion)) return undefined;
      return { ...record, nextVersion: next };
    },
    { beside },
  );
}

/** actions/replace-unbound-volume.ts: the mark first, so that a crash after the deletion looks like what it is. */
export function replaceUnboundVolume({ volume, storage }: ActionOf<'replace-unbound-volume'>): Program {
  const { name, uid } = volume;
  const isIt = (world: World) => {
    const found = placeOf(world, name)?.volume;
    return found?.uid === uid && !found.bound && !found.leaving;
  };
  const record = (world: World) => {
    const place = placeOf(world, name);
    return place && recordIn(place);
  };
  return [
    {
      what: `marks peer ${name}: its unbound volume is made anew`,
      name,
      check: (world) => {
        const place = livePlace(world, name);
        if ('refused' in place) return place;
        return isIt(world) && record(world)?.state === 'bootstrapping'
          ? 'go'
          : refused(`volume ${name} is another one`);
      },
      write: {
        fence: 'version',
        object: 'peer',
        apply: (world) =>
          changing(world, name, 'peer', (peer) => ({
            ...peer,
            replacingVolume: uid,
            inputs: { ...peer.inputs, storage },
          })),
      },
    },
    {
      what: `deletes the unbound volume ${name}`,
      name,
      check: (world) => (isIt(world) ? 'go' : refused(`volume ${name} was bound`)),
      write: { fence: 'version', object: 'volume', apply: (world) => lettingGo(world, name) },
    },
    {
      what: `creates volume ${name} anew`,
      name,
      check: (world) => {
        const place = livePlace(world, name);
        if ('refused' in place) return place;
        if (place.volume?.uid === uid) return 'wait';
        return place.volume ? refused(`there is another volume ${name}`) : 'go';
      },
      write: {
        fence: 'absent',
        object: 'volume',
        apply: (world, referred) =>
          withPlace(world, name, (place) => {
            if (!place.peer) return place;
            const { token, initialCluster } = place.peer.bootstrap;
            const { version, tls } = place.peer.inputs;
            const fresh = { token, initialCluster, version, tlsMode: tls.mode, state: 'bootstrapping' } as const;
            const made = { leaving: false, bound: false, lost: false, size: String(storage.size) };
            return {
              ...place,
              volume: { uid: freshUid('volume', place, referred), record: { kind: 'valid', record: fresh }, ...made },
            };
          }),
      },
    },
    ...unmarks(name),
  ];
}

/** A claim that a pod waits for stays until the pod lets go. */
export function lettingGo(world: World, name: string): World {
  const after = withPlace(world, name, (place) => {
    if (!place.volume) return place;
    const isHeld = place.pod !== undefined || place.jobPod !== undefined;
    if (isHeld) return { ...place, volume: { ...place.volume, leaving: true } };
    return withoutVolume(lacking(place, 'process', 'orphan'));
  });
  return settleEtcd(after);
}
