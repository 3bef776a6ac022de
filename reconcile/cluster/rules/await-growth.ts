import type { Situation } from '../decide.ts';
import { type Decision, refuse, wait } from '../decision.ts';

/**
 * Volumes that were asked to grow have not grown yet: the spec is not fulfilled before they have. Nothing else has to wait for it.
 */
export function awaitGrowth({ slots, cluster }: Situation): Decision | undefined {
  const growing = slots.flatMap(({ name, peer, volume }) => (peer && volume?.growing ? [{ name, volume }] : []));
  const failed = growing.find(({ volume }) => volume.growing?.infeasible);
  if (failed) {
    const { phase = '', message = '' } = failed.volume.growing ?? {};
    return refuse(
      'VolumeCannotGrow',
      `volume ${failed.name} can not grow to ${failed.volume.size}: ${phase}${message && ` (${message})`}`,
      `"kubectl -n ${cluster.metadata.namespace} describe pvc ${failed.name}" tells what its storage driver says: cure that there`,
    );
  }
  if (growing.length === 0) return undefined;
  const told = growing.map(({ name, volume }) => `${name}${volume.growing?.phase && ` (${volume.growing.phase})`}`);
  return wait('AwaitingVolumeGrowth', `the storage driver is to grow ${told.join(', ')}`, {
    on: 'change',
    of: 'volumeClaims',
  });
}
