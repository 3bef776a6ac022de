import {
  makeConfigMap,
  makePeer,
  makeStatefulSet,
  makeVolume,
  makeVolumeAnew,
} from '../../../reconcile/cluster/act/requests/making.ts';
import { livePeer } from '../../../reconcile/cluster/act/requests/objects.ts';
import { deleteVolume, liveVolume } from '../../../reconcile/cluster/act/requests/volumes.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Contracts, othersAct } from './contract.ts';
import type { Doing } from './doing.ts';
import { inputsOf, member, recordOf } from './members.ts';
import type { Scene } from './scene.ts';

const name = 'orders-0';

async function none(): Promise<void> {}

const upTo = (last: 'volume' | 'peer' | 'configMap' | 'statefulSet') => (scene: Scene) => member(scene, { upTo: last });

const born = (scene: Scene) => recordOf(scene, { state: 'bootstrapping', mayHaveStarted: 'peer-of-birth' });

function recorded(scene: Scene, state: 'bootstrapping' | 'joining' = 'bootstrapping') {
  return { name, record: recordOf(scene, { state }), inputs: inputsOf(scene) };
}

const deletesPeer: Doing = { does: 'deletes', object: 'peer', name };

function* madeAnew() {
  const { readAt: peer } = yield* livePeer(name);
  const { uid, readAt, record } = yield* liveVolume(name);
  yield* deleteVolume({ uid, readAt });
  yield* othersAct();
  return yield* makeVolumeAnew({ peer, record });
}

function* configMapMade() {
  const { readAt: peer } = yield* livePeer(name);
  const { uid: volumeUid, readAt: volume, record } = yield* liveVolume(name);
  yield* othersAct();
  return yield* makeConfigMap({ peer, volume, volumeUid, record });
}

function* setMade(scene: Scene) {
  const { readAt: peer, uid: peerUid } = yield* livePeer(name);
  yield* othersAct();
  return yield* makeStatefulSet({ peer, peerUid, inputs: inputsOf(scene) });
}

export const making = {
  makeVolume: [
    { when: 'there is none', start: none, asks: (_, scene) => makeVolume(recorded(scene)) },
    {
      when: 'the record says that a member may have run on an earlier one',
      start: none,
      asks: (_, scene) => makeVolume({ ...recorded(scene), record: born(scene) }),
    },
    {
      when: 'ours is there already',
      start: (scene) => member(scene, { upTo: 'volume', record: { state: 'bootstrapping' } }),
      asks: (_, scene) => makeVolume(recorded(scene)),
    },
    {
      when: 'one with another token is there',
      start: (scene) => member(scene, { upTo: 'volume', record: { token: 'another' } }),
      asks: (_, scene) => makeVolume(recorded(scene)),
      refused: 'terminal NameTaken',
    },
    {
      when: 'one that is no member is there',
      start: (scene) =>
        scene.make(resources.volumeClaims, {
          metadata: {
            name,
            labels: { 'etcd.ratchet.dev/cluster': 'orders', 'app.kubernetes.io/managed-by': 'etcd-ratchet' },
          },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        } as never),
      asks: (_, scene) => makeVolume(recorded(scene)),
      refused: 'terminal NameTaken',
    },
  ],
  makeVolumeAnew: [
    {
      when: 'the unbound one is gone',
      start: (scene) =>
        member(scene, { upTo: 'peer', record: { state: 'bootstrapping', mayHaveStarted: 'peer-of-birth' } }),
      others: [{ does: 'deletes', object: 'volume', name }],
      asks: function* () {
        const { readAt: peer } = yield* livePeer(name);
        const { record } = yield* liveVolume(name);
        yield* othersAct();
        return yield* makeVolumeAnew({ peer, record });
      },
    },
    {
      when: 'it is there still',
      start: upTo('peer'),
      others: [],
      asks: madeAnew,
      refused: 'precondition AlreadyExists',
    },
  ],
  makePeer: [
    { when: 'there is none', start: upTo('volume'), asks: (_, scene) => makePeer(recorded(scene)) },
    { when: 'its member joins', start: upTo('volume'), asks: (_, scene) => makePeer(recorded(scene, 'joining')) },
    { when: 'ours is there already', start: upTo('peer'), asks: (_, scene) => makePeer(recorded(scene)) },
    {
      when: 'one of an earlier cluster of that name is there',
      start: (scene) => member(scene, { upTo: 'peer', owners: { peer: 'earlier' } }),
      asks: (_, scene) => makePeer(recorded(scene)),
      refused: 'terminal NameTaken',
    },
  ],
  makeConfigMap: [
    { when: 'there is none', start: upTo('peer'), asks: configMapMade },
    {
      when: 'its volume is not sealed',
      start: (scene) =>
        member(scene, { upTo: 'peer', record: { state: 'bootstrapping', mayHaveStarted: 'peer-of-birth' } }),
      asks: configMapMade,
    },
    { when: 'ours is there already', start: upTo('configMap'), asks: configMapMade },
    {
      when: 'it is there, and is of an earlier release',
      start: (scene) => member(scene, { upTo: 'configMap', owners: { configMap: 'peer' } }),
      asks: configMapMade,
    },
    {
      when: 'it is there, and is of an earlier PVC',
      start: (scene) => member(scene, { upTo: 'configMap', owners: { configMap: 'earlier' } }),
      asks: configMapMade,
      refused: 'precondition WorldMoved',
    },
    {
      when: 'it is there, and is not of this cluster',
      start: (scene) => member(scene, { upTo: 'configMap', owners: { configMap: 'none' } }),
      asks: configMapMade,
      refused: 'terminal NameTaken',
    },
    {
      when: 'the volume was made anew since it was read',
      start: upTo('peer'),
      others: [{ does: 'makes anew', object: 'volume', name }],
      asks: configMapMade,
    },
  ],
  makeStatefulSet: [
    { when: 'there is none', start: upTo('configMap'), asks: (_, scene) => setMade(scene) },
    { when: 'ours is there already', start: upTo('statefulSet'), asks: (_, scene) => setMade(scene) },
    {
      when: 'one of an earlier peer is there',
      start: (scene) => member(scene, { upTo: 'statefulSet', owners: { statefulSet: 'earlier' } }),
      asks: (_, scene) => setMade(scene),
      refused: 'terminal NameTaken',
    },
    {
      when: 'the peer was deleted meanwhile',
      start: upTo('configMap'),
      others: [deletesPeer],
      asks: (_, scene) => setMade(scene),
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
