import { serving, withFormation } from './etcd.ts';
import type { Clients, Formation, World } from './state.ts';

/** Revisions as clients see them, in worlds that have clients: writes raise them, and a snapshot has one. */

/** Every snapshot of the model is of this revision, and nothing in its name says so. */
export const revisionOfSnapshots = 500;
const beginning = 1000;
/** As many as a store takes in years. Three of them fit between two floors. */
const burst = 2 ** 38;

export function withClients(world: World): World {
  const [formation] = world.formations;
  if (!formation) return world;
  const revised = withFormation(world, { ...formation, revision: beginning });
  return { ...revised, clients: { saw: beginning, of: formation.id } };
}

/** Clients that watch another etcd cluster than before go on where they were. */
export function resumed(world: World): World | undefined {
  const formation = servedToClients(world);
  if (!formation || formation.id === world.clients?.of) return undefined;
  return { ...world, clients: { saw: formation.revision ?? 0, of: formation.id } };
}

/** Clients write, and are told. */
export function written(world: World): World | undefined {
  const formation = servedToClients(world);
  if (!formation || formation.id !== world.clients?.of) return undefined;
  const revision = (formation.revision ?? 0) + burst;
  return { ...withFormation(world, { ...formation, revision }), clients: { saw: revision, of: formation.id } };
}

/** Below what was compacted a watch that resumes is told so. Above that etcd answers, also without the revision. */
export function isToldCompacted({ saw }: Clients, { compacted = 0 }: Formation): boolean {
  return saw + 1 < compacted;
}

function servedToClients(world: World): Formation | undefined {
  return world.clients && isOpen(world) ? serving(world) : undefined;
}

/** Whether clients are let in, by either Service. */
export function isOpen({ shared }: World): boolean {
  return shared.clientService.state === 'present' || shared.externalService.state === 'present';
}
