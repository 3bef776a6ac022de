import type { Decision } from '../../reconcile/cluster/know/decision.ts';
import { isOutage } from '../../reconcile/reasons/reasons.ts';
import type { Code } from './model/code.ts';
import { serving } from './model/etcd.ts';
import { nonceOf } from './model/invocation.ts';
import { look } from './model/look.ts';
import { recordIn } from './model/objects.ts';
import type { World } from './model/state.ts';

/**
 * I15: clients were let in, and are not served: no quorum answers, or etcd accepts no writes. Whatever is decided, that
 * is reported. Named exceptions: a cluster that is deleted, hibernates, or was given up for a recovery or a rollback.
 */
export function tellsOutages(world: World, code: Code, decide: (world: World) => Decision): string | undefined {
  const { cluster } = world;
  const wrong = cluster.gone || cluster.deleting || cluster.spec.replicas === 0 ? undefined : outageOf(world);
  if (wrong === undefined) return undefined;
  const observation = look(world, { nonce: nonceOf(world) });
  const decision = decide(world);
  const { conditions = [] } = code.report(code.situate(observation), decision);
  const available = conditions.find(({ type }) => type === 'Available');
  const isTold = available?.status === 'False' && isOutage(available.reason);
  const isCalm = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return isTold && !isCalm ? undefined : `${wrong}, and nothing says so: ${decision.reason}: ${decision.message}`;
}

function outageOf(world: World): string | undefined {
  const formation = serving(world);
  if (formation) return formation.data?.alarm ? 'etcd accepts no writes' : undefined;
  const { clientService } = world.shared;
  const records = world.places.flatMap((place) => recordIn(place) ?? []);
  const hasServed = records.length > 0 && records.every(({ state }) => state === 'sealed');
  return clientService.state === 'present' && hasServed ? 'no quorum serves' : undefined;
}
