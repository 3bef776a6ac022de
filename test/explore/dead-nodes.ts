import type { Change } from './model/git.ts';
import { healthy, unborn } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

/** Nodes that die and never come back, whatever else is going on: nobody may wait for them for ever and not be told. */

const size = (replicas: number): Change => ({ what: `replicas: ${replicas}`, spec: { replicas } });
const options: Change = { what: 'etcd.snapshotCount: 5000', spec: { etcd: { snapshotCount: 5000 } } };
const deleted: Change = { what: 'the resource is deleted', resource: 'deleted' };
const applied: Change = { what: 'the resource is applied again', resource: 'applied' };
const withVolumes = { volumeRetention: { whenDeleted: 'Delete', whenScaled: 'Delete' } } as const;

const death = { node: 1, crash: 1 } as const;

export const deadNodes: readonly Scenario[] = [
  one(
    'a node dies while it is deleted and applied again',
    healthy({}, 5),
    [deleted, applied],
    { ...death, peer: 1 },
    2,
  ),
  one('two nodes die, and it is deleted and applied again', healthy({}, 5), [deleted, applied], { node: 2 }, 2),
  one('the node of a single member dies', healthy({ replicas: 1 }, 5), [deleted, applied], death, 2),
  one('a node dies, and it is deleted with its volumes', healthy(withVolumes, 5), [deleted, applied], death, 2),
  one(
    'a node dies while members are rolled',
    healthy({}, 6),
    [options, size(2)],
    { ...death, eviction: 1, wipe: 1 },
    3,
  ),
  one('a node dies while it grows and shrinks', healthy({}, 7), [size(5), size(3), size(1)], { ...death, claim: 1 }, 3),
  one('a node dies while it is to hibernate, and wakes', healthy({}, 5), [size(0), size(3)], { ...death, death: 1 }, 2),
  one('a node dies at a birth', unborn({}, 5), [size(1), size(3)], { ...death, death: 1 }, 2),
];
