import {
  growVolume,
  markReplacing,
  unmarkReplacing,
  writeConfigMap,
} from '../../../reconcile/cluster/act/requests/changing.ts';
import { livePeer, readConfigMap } from '../../../reconcile/cluster/act/requests/objects.ts';
import { liveVolume, readPvc, writeRecord } from '../../../reconcile/cluster/act/requests/volumes.ts';
import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import { type Contract, type Contracts, othersAct } from './contract.ts';
import type { Doing } from './doing.ts';
import { member } from './members.ts';
import type { Scene } from './scene.ts';
import { classes } from './stage.ts';

const name = 'orders-0';
const uid = '00000000-0000-4000-8000-000000000002';

/** What holds for every write of an object that carries its version. */
function whenStale(object: Doing['object'], asks: Contract['asks'], start?: Contract['start']): readonly Contract[] {
  return (['writes to', 'deletes', 'makes anew'] as const).map((does) => ({
    when: `another one ${does === 'writes to' ? 'wrote to it' : does === 'deletes' ? 'deleted it' : 'made it anew'}`,
    ...(start && { start }),
    others: [{ does, object, name }],
    asks,
    refused: 'precondition Conflict',
  }));
}

function* marked() {
  const { readAt } = yield* livePeer(name);
  yield* othersAct();
  return yield* markReplacing({ readAt, uid, storage: { size: '2Gi', storageClassName: 'another' } });
}

function* unmarked() {
  const { readAt, inputs } = yield* livePeer(name);
  const marked = yield* markReplacing({ readAt, uid, storage: inputs.storage });
  yield* othersAct();
  return yield* unmarkReplacing({ readAt: marked.readAt });
}

function* configMapWritten() {
  const { readAt: peer } = yield* livePeer(name);
  const { uid: volumeUid, readAt, record } = yield* liveVolume(name);
  const sealed = { ...record, state: 'sealed', memberId: 'a1', clusterId: 'c1' } as const;
  const volume = yield* writeRecord({ readAt, record: sealed });
  const found = yield* readConfigMap({ name });
  if (!found) throw moved('there is no ConfigMap');
  yield* othersAct();
  return yield* writeConfigMap({ readAt: found.readAt, peer, volume, volumeUid, record: sealed });
}

const bornWith = (configMap?: 'peer' | 'earlier') => (scene: Scene) =>
  member(scene, {
    upTo: 'configMap',
    record: { state: 'bootstrapping', mayHaveStarted: 'peer-of-birth' },
    ...(configMap && { owners: { configMap } }),
  });

function* grown(size: string) {
  const claim = yield* readPvc({ name });
  if (!claim) throw moved('there is no volume');
  yield* othersAct();
  return yield* growVolume({ readAt: claim.readAt, size });
}

const ofClass = (storageClassName: string) => (scene: Scene) => member(scene, { bound: 'pv-1', storageClassName });

export const changing = {
  markReplacing: [{ when: 'the peer is as it was read', asks: marked }, ...whenStale('peer', marked)],
  unmarkReplacing: [{ when: 'the peer is as it was read', asks: unmarked }, ...whenStale('peer', unmarked)],
  writeConfigMap: [
    { when: 'the volume was sealed', start: bornWith(), asks: configMapWritten },
    { when: 'it is of an earlier release', start: bornWith('peer'), asks: configMapWritten },
    { when: 'it is of an earlier PVC', start: bornWith('earlier'), asks: configMapWritten },
    {
      when: 'it is sealed, and is of an earlier release',
      start: (scene) => member(scene, { upTo: 'configMap', owners: { configMap: 'peer' } }),
      asks: configMapWritten,
    },
    {
      when: 'the volume was made anew since it was read',
      start: bornWith(),
      others: [{ does: 'makes anew', object: 'volume', name }],
      asks: configMapWritten,
    },
    ...whenStale('configMap', configMapWritten, bornWith()),
  ],
  growVolume: [
    { when: 'its class lets volumes grow', start: ofClass(classes.grows), asks: () => grown('2Gi') },
    {
      when: 'its class lets no volume grow',
      start: ofClass(classes.rigid),
      asks: () => grown('2Gi'),
      refused: 'terminal VolumeCannotGrow',
      differs: {
        because: 'a model does not know storage classes',
        model: 'well',
        not: ['left.slots.orders-0.volume.size'],
      },
    },
    ...whenStale('volume', () => grown('2Gi'), ofClass(classes.grows)),
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
