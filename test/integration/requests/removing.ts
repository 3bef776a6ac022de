import {
  awaitVolumeGone,
  deleteConfigMap,
  deletePeer,
  deletePodOf,
  deleteStatefulSet,
} from '../../../reconcile/cluster/act/requests/removing.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { Contract, Contracts } from './contract.ts';
import type { Doing } from './doing.ts';
import { member } from './members.ts';

const name = 'orders-0';
const another = { name, uid: '00000000-0000-4000-8000-000000000001' };

type Kind = 'peer' | 'volume' | 'configMap' | 'statefulSet' | 'pod';

function refOf({ slots }: Observation, kind: Kind) {
  return { name, uid: slots.find((slot) => slot.name === name)?.[kind]?.uid ?? '' };
}

/** What holds for every deletion of one object by its UID. */
function deletions(
  kind: Kind,
  ask: (ref: { readonly name: string; readonly uid: string }) => ReturnType<Contract['asks']>,
  further: readonly Contract[] = [],
): Contracts {
  const written: Doing = { does: 'writes to', object: kind, name };
  return [
    { when: 'it is there', asks: (seen) => ask(refOf(seen, kind)) },
    { when: 'it is gone already', start: (scene) => member(scene, { upTo: 'volume' }), asks: () => ask(another) },
    { when: 'it is another one of that name', asks: () => ask(another), refused: 'precondition Conflict' },
    {
      when: 'others wrote to it since it was read',
      start: async (scene) => {
        await member(scene);
        await scene.act(written);
      },
      asks: (seen) => ask(refOf(seen, kind)),
    },
    ...further,
  ];
}

export const removing = {
  deletePeer: deletions('peer', deletePeer, [
    {
      when: 'its ConfigMap is of an earlier release, which gave it to the peer',
      start: (scene) => member(scene, { owners: { configMap: 'peer' } }),
      asks: (seen) => deletePeer(refOf(seen, 'peer')),
    },
  ]),
  deleteStatefulSet: deletions('statefulSet', deleteStatefulSet),
  deleteConfigMap: deletions('configMap', deleteConfigMap),
  deletePodOf: deletions('pod', deletePodOf, [
    {
      when: 'a kubelet has to end it',
      start: (scene) => member(scene, { pod: { node: 'node-1' } }),
      asks: (seen) => deletePodOf(refOf(seen, 'pod')),
    },
  ]),
  awaitVolumeGone: [
    { when: 'it is gone', start: async () => {}, asks: () => awaitVolumeGone(another) },
    { when: 'there is another one of that name', asks: () => awaitVolumeGone(another) },
    {
      when: 'it stays',
      patience: 500,
      asks: (seen) => awaitVolumeGone(refOf(seen, 'volume')),
      refused: 'retryable Timeout',
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
