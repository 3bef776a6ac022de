import type { EtcdClusterSpec } from '../../manifests/api/etcd-cluster.ts';
import { quotaBackendBytes } from '../../manifests/render/quota.ts';
import type { Change } from './model/git.ts';
import type { World } from './model/state.ts';
import { healthy, unborn } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

/** None waits for ever for members that run and do not hear each other. */
const network: readonly Scenario[] = [
  one('members apart', healthy({}, 6), [], { apart: 1, crash: 1, wipe: 1, claim: 1, eviction: 1 }, 2),
  one('members apart, in a birth', unborn({}, 6), [], { apart: 1, death: 1 }, 1),
  one(
    'members apart, while it grows',
    healthy({ replicas: 1 }, 6),
    [{ what: 'replicas: 3', spec: { replicas: 3 } }],
    { apart: 1 },
    1,
  ),
  one(
    'members apart, while it shrinks',
    healthy({}, 6),
    [{ what: 'replicas: 1', spec: { replicas: 1 } }],
    { apart: 1, death: 1 },
    2,
  ),
];

const larger = change('a larger quota', { etcd: { quotaBackendBytes: '512Mi' } });
const other = change('etcd.snapshotCount: 5000', { etcd: { snapshotCount: 5000 } });
const suspended = change('suspend: true', { suspend: true });
const resumed = change('suspend: false', { suspend: false });

/** Clients are not served: that is told, and its cure waits for nothing else. */
export const outageScenarios: readonly Scenario[] = [
  ...network,
  one('out of space, without room', full({}), [larger], { death: 1, late: 1, crash: 1 }, 2),
  one('out of space, and another change', full({}), [other, larger], { death: 1, crash: 1 }, 1),
  one('out of space, suspended', full({}), [suspended, larger, resumed], { death: 1 }, 1),
  one('out of space, alone', full({ replicas: 1 }), [larger], { death: 1, late: 1, crash: 1 }, 2),
];

function change(what: string, spec: Partial<EtcdClusterSpec>): Change {
  return { what, spec };
}

/** Its data fill the quota, and a rewritten file has shown it. */
function full(spec: Partial<EtcdClusterSpec>): () => World {
  return () => {
    const world = healthy(spec, 6);
    const bytes = quotaBackendBytes(world.cluster.spec);
    return {
      ...world,
      formations: world.formations.map((formation) => ({ ...formation, data: { bytes, alarm: true } })),
    };
  };
}
