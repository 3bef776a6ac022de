import type { Decision } from '../../../reconcile/cluster/know/decision.ts';
import { isOpen } from '../model/clients.ts';
import { formationOf, hasQuorum, runnerOf, serving, votersOf } from '../model/etcd.ts';
import type { Formation, World } from '../model/state.ts';
import type { Core } from './core.ts';
import { mayRest } from './may-rest.ts';

/**
 * Once a quorum is healed and all has come to rest, clients are served, and each voter that does not run was replaced,
 * or is named for a cause that is true. `undefined`: it is so.
 */
export function owed(world: World, decision: Decision, core: Core): string | undefined {
  const { cluster } = world;
  if (cluster.gone || decision.kind !== 'refuse') return undefined;
  const said = `${decision.kind} ${decision.reason}: ${decision.message}`;
  const row = mayRest[decision.reason];
  if (!row?.is(world, core)) return `it rests for a cause that is not there: ${said}`;
  if (cluster.deleting || cluster.spec.suspend || cluster.spec.replicas === 0) return undefined;
  const formation = served(world, core);
  if (!formation) {
    if (row.unserved?.(world, core)) return undefined;
    return `a quorum of ${core.of ?? 'what is born'} is healed, and clients are not served: ${said}`;
  }
  if (row.unnamed) return undefined;
  const told = [decision, ...(decision.besides ?? [])];
  const silent = votersOf(formation).find(
    ({ id, name }) => !runnerOf(world, formation, id) && !told.some(({ message }) => message.includes(name)),
  );
  return silent && `${silent.name} does not run, is not replaced, and nothing names it: ${said}`;
}

/** Clients of members that others run have their own addresses. */
function served(world: World, core: Core): Formation | undefined {
  const formation = serving(world);
  if (formation && isOpen(world)) return formation;
  const theirs = formationOf(world, core.of);
  const isTheirs = theirs && world.places.some((one) => one.outside && one.process?.formation === theirs.id);
  return isTheirs && hasQuorum(world, theirs) ? theirs : undefined;
}
