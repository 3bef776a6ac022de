import type { Situation } from '../decide.ts';
import { type Decision, refuse, wait } from '../decision.ts';

/**
 * Volumes that were asked to grow have not grown yet: the spec is not fulfilled before they have. Nothing else has to wait for it.
 */
export function awaitGrowth({ slots, cluster }: Situation): Decision | undefined {
  const growing = slots.flatMap(({ name, peer, volume }) =>
    peer && volume?.growing ? [{ name, size: volume.size, ...volume.growing }] : [],
  );
  const failed = growing.find(({ infeasible }) => infeasible);
  if (failed) {
    const { name, size, phase, message } = failed;
    return refuse(
      'VolumeCannotGrow',
      `volume ${name} can not grow to ${size}: ${phase}${message && ` (${message})`}`,
      `"kubectl -n ${cluster.metadata.namespace} describe pvc ${name}" tells what its storage driver says: cure that there`,
    );
  }
  if (growing.length === 0) return undefined;
  const told = growing.map(({ name, phase }) => `${name}${phase && ` (${phase})`}`);
  return wait('AwaitingVolumeGrowth', `the storage driver is to grow ${told.join(', ')}`, {
    on: 'change',
    of: 'volumeClaims',
  });
}
