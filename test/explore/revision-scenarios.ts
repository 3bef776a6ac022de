import { withClients } from './model/clients.ts';
import { settleEtcd } from './model/etcd.ts';
import type { Change } from './model/git.ts';
import { withoutVolumes } from './model/losses.ts';
import type { Consent } from './model/person.ts';
import { lacking, type World } from './model/state.ts';
import { healthy } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

const snapshot = { object: 'gs://backups/orders/a.db' };
const backFrom = (clusterID: string): Change => ({
  what: `spec.rollback of ${clusterID}`,
  spec: { rollback: { clusterID, snapshot } },
});
const approves: Consent = { what: 'a person approves the rollback', person: 'approves the rollback' };
const twice = [backFrom('c-token1cluster-1'), approves, backFrom('c-token2cluster-1'), approves];
const busy = () => withClients(healthy({ replicas: 1 }, 4));

/** Its volume is gone for good, and with it what it remembered. */
function bare(): World {
  const { places, ...world } = withoutVolumes(busy(), [0]);
  return settleEtcd({ ...world, places: places.map((place) => lacking(place, 'backup')) });
}

const forLoss: Consent = { what: 'a person approves what the refusal says', person: 'approves' };
const bereft = () => withClients(withoutVolumes(healthy({ replicas: 3 }, 6), [1, 2])) as World;
const one1 = (world: World): World => ({
  ...world,
  cluster: { ...world.cluster, spec: { ...world.cluster.spec, replicas: 1 } },
});

/** Clusters whose clients remember what they saw, while they are rolled back to a snapshot of long ago. */
export const revisionScenarios: readonly Scenario[] = [
  one('revisions, roll back 1', busy, twice.slice(0, 2), { writes: 2, death: 1, late: 1, kill: 1, crash: 1 }, 3),
  one('revisions, roll back 1 twice', busy, twice, { writes: 2, crash: 1, status: 1, death: 1 }, 3),
  one('revisions, quorum of 3 lost', () => one1(bereft()), [forLoss], { writes: 2, death: 1, late: 1, kill: 1 }, 2),
  one('revisions, roll back 1 without volumes, twice', bare, twice, { writes: 1, lost: 1, claim: 1 }, 2),
];
