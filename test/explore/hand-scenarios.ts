import type { EtcdClusterSpec } from '../../manifests/api/etcd-cluster.ts';
import type { Change } from './model/git.ts';
import { healthy, unborn } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

const spec = (what: string, changes: Partial<EtcdClusterSpec>): Change => ({ what, spec: changes });
const options = spec('etcd.snapshotCount: 5000', { etcd: { snapshotCount: 5000 } });
const higher = spec('version: 3.7.3', { version: '3.7.3' });

/** Other clients that write into StatefulSets of ours. */
const unread = { noDryRuns: 1, webhook: 1, dryRuns: 1 } as const;

/** Where nothing tells for a while, or ever, whether StatefulSets are ours. */
const unreadScenarios: readonly Scenario[] = [
  one('birth of 2, and dry runs are refused', unborn({ replicas: 2 }, 6), [], { ...unread, death: 1, crash: 1 }, 2),
  one('heal 3, and dry runs are refused', healthy({}, 6), [], { ...unread, wipe: 1, claim: 1, lost: 1, node: 1 }, 2),
  one('configuration, and dry runs are refused', healthy({}, 6), [options], { ...unread, hand: 1, death: 1 }, 3),
];

export const handScenarios: readonly Scenario[] = [
  ...unreadScenarios,
  one('hands', healthy({}, 6), [], { hand: 2, scale: 2, crash: 1, eviction: 1, wipe: 1 }, 2),
  one('hands on all of 3', healthy({}, 6), [], { hand: 3, scale: 3 }, 3),
  one('hands while it rolls', healthy({}, 6), [options], { hand: 1, scale: 1, death: 1, late: 1 }, 2),
  one('hands on the image', healthy({}, 6), [], { newer: 2, eviction: 2, crash: 1, death: 1 }, 3),
  one('hands on all images', healthy({}, 6), [], { newer: 3, eviction: 3 }, 6),
  one('hands on the image of one', healthy({ replicas: 1 }, 6), [], { newer: 1, eviction: 2, crash: 1, death: 1 }, 3),
  one('hands while it is upgraded', healthy({}, 6), [higher], { hand: 1, scale: 1, death: 1 }, 1),
  one(
    'hands on a single member',
    healthy({ replicas: 1 }, 6),
    [options],
    { hand: 2, scale: 1, death: 1, eviction: 1 },
    2,
  ),
];
