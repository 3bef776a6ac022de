import type { Observation } from '../observation.ts';
import type { Effect } from './effect.ts';
import { issueRequested, presentLeaves } from './settle/certificates.ts';
import { runEtcd } from './settle/etcd.ts';
import { collectGarbage, dropVolumes, endPods } from './settle/garbage.ts';
import { bindVolumes, growVolumes, makePods, runContainers, seeTemplates } from './settle/pods.ts';
import { runRecovery } from './settle/recovery.ts';

/** What Kubernetes and etcd do by themselves, each as one who finds nothing in its way would do it. */
export const actors = [
  collectGarbage,
  endPods,
  dropVolumes,
  seeTemplates,
  makePods,
  bindVolumes,
  growVolumes,
  issueRequested,
  runContainers,
  runRecovery,
  runEtcd,
  presentLeaves,
] as const satisfies readonly Effect[];

/** So many rounds are more than any of them needs the others for. */
const rounds = 12;

/**
 * The ideal response: everything that was asked for has come about, and nothing broke. What is broken already stays as it is:
 * nobody can promise that an image appears, or that a crash does not come again.
 *
 * The very same observation, where there is nothing to do.
 */
export function settle(observation: Observation): Observation {
  let settled = observation;
  for (let round = 0; round < rounds; round += 1) {
    const before = settled;
    for (const actor of actors) settled = actor(settled);
    if (settled === before) return settled;
  }
  return settled;
}
