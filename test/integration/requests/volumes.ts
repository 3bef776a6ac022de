import type { VolumeRecord } from '../../../manifests/render/volume-record.ts';
import {
  deleteVolume,
  listOtherVolumes,
  liveVolume,
  readPvc,
  readVolume,
  touchVolume,
  writeRecord,
} from '../../../reconcile/cluster/act/requests/volumes.ts';
import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Contracts, othersAct } from './contract.ts';
import type { Doing } from './doing.ts';
import { member } from './members.ts';
import type { Scene } from './scene.ts';

const name = 'orders-0';
const writes: Doing = { does: 'writes to', object: 'volume', name };
const deletes: Doing = { does: 'deletes', object: 'volume', name };
const remakes: Doing = { does: 'makes anew', object: 'volume', name };

/** A PVC that a pod may have open stays Terminating: here its protection is never taken away. */
async function terminating(scene: Scene): Promise<void> {
  await member(scene);
  const { metadata } = await scene.read('volume', name);
  const preconditions = { uid: metadata.uid ?? '' };
  await scene.kube.delete(resources.volumeClaims, scene.namespace, name, { preconditions });
}

async function unreadable(scene: Scene): Promise<void> {
  await member(scene);
  const claim = await scene.read('volume', name);
  const annotations = { ...claim.metadata.annotations, 'etcd.ratchet.dev/volume-state': 'nonsense' };
  await scene.kube.update(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, annotations } });
}

async function none(): Promise<void> {}

function* rewritten(more: Partial<VolumeRecord>, isDisturbed = false) {
  const { readAt, record } = yield* liveVolume(name);
  if (isDisturbed) yield* othersAct();
  return yield* writeRecord({ readAt, record: { ...record, ...more } });
}

function* touched(isDisturbed: boolean) {
  const { readAt } = yield* liveVolume(name);
  if (isDisturbed) yield* othersAct();
  return yield* touchVolume({ readAt });
}

function* deleted(isDisturbed: boolean) {
  const { uid, readAt } = yield* liveVolume(name);
  if (isDisturbed) yield* othersAct();
  return yield* deleteVolume({ uid, readAt });
}

export const volumes = {
  readVolume: [
    { when: 'it is there', asks: () => readVolume({ name }) },
    { when: 'it is bound', start: (scene) => member(scene, { bound: 'pv-1' }), asks: () => readVolume({ name }) },
    { when: 'there is none', start: none, asks: () => readVolume({ name }) },
    { when: 'it is on its way out', start: terminating, asks: () => readVolume({ name }) },
    {
      when: 'its annotations are nonsense',
      start: unreadable,
      asks: () => readVolume({ name }),
      refused: 'precondition WorldMoved',
    },
  ],
  readPvc: [
    { when: 'it is there', asks: () => readPvc({ name }) },
    { when: 'there is none', start: none, asks: () => readPvc({ name }) },
    { when: 'it is on its way out', start: terminating, asks: () => readPvc({ name }) },
    { when: 'its annotations are nonsense', start: unreadable, asks: () => readPvc({ name }) },
  ],
  writeRecord: [
    { when: 'it is as it was read', asks: () => rewritten({ state: 'releasing', memberId: 'b2', clusterId: 'c2' }) },
    {
      when: 'every field of the record is set',
      asks: () =>
        rewritten({
          state: 'releasing',
          nextVersion: '3.7.3',
          minorSince: { minor: '3.6', index: '18446744073709551615' },
          evidence: true,
          replacedAt: '2026-01-02T03:04:05Z',
          disk: { pv: 'pv-1', handle: 'disk-1' },
          outvoted: [{ name: 'orders-1', memberId: 'ab' }],
        }),
    },
    {
      when: 'others wrote to it since it was read',
      others: [writes],
      asks: () => rewritten({ state: 'releasing' }, true),
      refused: 'precondition Conflict',
    },
    {
      when: 'it was deleted since it was read',
      others: [deletes],
      asks: () => rewritten({ state: 'releasing' }, true),
      refused: 'precondition Conflict',
    },
    {
      when: 'it was made anew since it was read',
      others: [remakes],
      asks: () => rewritten({ state: 'releasing' }, true),
      refused: 'precondition Conflict',
    },
  ],
  listOtherVolumes: [
    {
      when: 'others are there, with labels and without',
      start: async (scene) => {
        await member(scene);
        await member(scene, { ordinal: 1, upTo: 'volume', record: { memberId: 'b2' } });
        await member(scene, { ordinal: 2, upTo: 'volume', record: { state: 'releasing' } });
        const claim = await scene.read('volume', 'orders-2');
        await scene.kube.update(resources.volumeClaims, { ...claim, metadata: { ...claim.metadata, labels: {} } });
      },
      asks: () => listOtherVolumes({ name, listed: ['orders-0', 'orders-1', 'orders-2', 'm0'] }),
    },
    { when: 'there is no other', asks: () => listOtherVolumes({ name, listed: [name, 'orders-1'] }) },
    {
      when: 'one cannot be read',
      start: unreadable,
      asks: () => listOtherVolumes({ name: 'orders-1', listed: [name] }),
    },
  ],
  touchVolume: [
    { when: 'it is as it was read', asks: () => touched(false) },
    {
      when: 'what was read before is written after it',
      asks: function* () {
        const { readAt, record } = yield* liveVolume(name);
        yield* touchVolume({ readAt });
        if ((yield* readPvc({ name }))?.readAt.at === readAt.at && readAt.at !== 'current') throw moved('same version');
        return yield* writeRecord({ readAt: (yield* liveVolume(name)).readAt, record });
      },
    },
    {
      when: 'others wrote to it since it was read',
      others: [writes],
      asks: () => touched(true),
      refused: 'precondition Conflict',
    },
    {
      when: 'it was deleted since it was read',
      others: [deletes],
      asks: () => touched(true),
      refused: 'precondition Conflict',
    },
  ],
  deleteVolume: [
    { when: 'it is as it was read', asks: () => deleted(false) },
    {
      when: 'others wrote to it since it was read',
      others: [writes],
      asks: () => deleted(true),
      refused: 'precondition Conflict',
    },
    { when: 'it is gone by then', others: [deletes], asks: () => deleted(true) },
    {
      when: 'it was made anew since it was read',
      others: [remakes],
      asks: () => deleted(true),
      refused: 'precondition Conflict',
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
