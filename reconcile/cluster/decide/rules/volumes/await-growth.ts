import { type Decision, refuse, wait } from '../../../know/decision.ts';
import type { Situation } from '../../../know/situation.ts';

/**
 * Volumes were asked to grow and have not grown yet: until then the spec is not fulfilled. Nothing else waits for it.
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
      `volume ${name} cannot grow to ${size}: ${phase}${message && ` (${message})`}`,
      `see what its storage driver reports, and correct it there: kubectl -n ${cluster.metadata.namespace} describe pvc ${name}`,
    );
  }
  if (growing.length === 0) return undefined;
  const told = growing.map(({ name, phase }) => `${name}${phase && ` (${phase})`}`);
  return wait('AwaitingVolumeGrowth', `the storage driver is growing ${told.join(', ')}`, {
    on: 'change',
    of: 'volumeClaims',
  });
}
