import { readConfigMap, readPeer, readStatefulSet } from '../../../reconcile/cluster/act/requests/objects.ts';
import type { Contracts, Difference } from './contract.ts';
import { member } from './members.ts';

const name = 'orders-0';

const controllerIsGone: Difference = {
  because: 'an observation tells of a controller that is not there only that it is another one',
  not: ['answer.controller'],
};

export const objects = {
  readPeer: [
    { when: 'it is there', asks: () => readPeer({ name }) },
    { when: 'there is none', start: (scene) => member(scene, { upTo: 'volume' }), asks: () => readPeer({ name }) },
    {
      when: 'it is of an earlier cluster of that name',
      start: (scene) => member(scene, { upTo: 'peer', owners: { peer: 'earlier' } }),
      asks: () => readPeer({ name }),
    },
  ],
  readConfigMap: [
    { when: 'it goes with its volume', asks: () => readConfigMap({ name }) },
    { when: 'there is none', start: (scene) => member(scene, { upTo: 'peer' }), asks: () => readConfigMap({ name }) },
    {
      when: 'it is of an earlier release, which gave it to the peer',
      start: (scene) => member(scene, { upTo: 'configMap', owners: { configMap: 'peer' } }),
      asks: () => readConfigMap({ name }),
    },
    {
      when: 'it is not sealed',
      start: (scene) => member(scene, { upTo: 'configMap', record: { state: 'bootstrapping' } }),
      asks: () => readConfigMap({ name }),
    },
    {
      when: 'it is of an earlier PVC',
      start: (scene) => member(scene, { upTo: 'configMap', owners: { configMap: 'earlier' } }),
      asks: () => readConfigMap({ name }),
      differs: controllerIsGone,
    },
    {
      when: 'it is not of this cluster',
      start: (scene) => member(scene, { upTo: 'configMap', owners: { configMap: 'none' } }),
      asks: () => readConfigMap({ name }),
    },
  ],
  readStatefulSet: [
    { when: 'it is there', asks: () => readStatefulSet({ name }) },
    {
      when: 'there is none',
      start: (scene) => member(scene, { upTo: 'configMap' }),
      asks: () => readStatefulSet({ name }),
    },
    {
      when: 'it is of an earlier peer',
      start: (scene) => member(scene, { upTo: 'statefulSet', owners: { statefulSet: 'earlier' } }),
      asks: () => readStatefulSet({ name }),
      differs: controllerIsGone,
    },
    {
      when: 'it is not of this cluster',
      start: (scene) => member(scene, { upTo: 'statefulSet', owners: { statefulSet: 'none' } }),
      asks: () => readStatefulSet({ name }),
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
