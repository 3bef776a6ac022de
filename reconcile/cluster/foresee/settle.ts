import type { Observation } from '../know/observation.ts';
import type { Effect } from './effect.ts';
import { takeBackup } from './settle/backup.ts';
import { issueRequested, presentLeaves, signAuthority } from './settle/certificates.ts';
import { readDiskLogs } from './settle/disk-logs.ts';
import { runEtcd } from './settle/etcd.ts';
import { collectGarbage, dropVolumes, endPods } from './settle/garbage.ts';
import { leaveGivenUp } from './settle/given-up.ts';
import { bindVolumes, growVolumes, makePods, runContainers, seeTemplates } from './settle/pods.ts';
import { runRecovery } from './settle/recovery.ts';
import { tellUsers } from './settle/users.ts';

/** What Kubernetes and etcd do by themselves, each as if nothing stood in its way. */
const actors = [
  leaveGivenUp,
  collectGarbage,
  endPods,
  dropVolumes,
  seeTemplates,
  makePods,
  bindVolumes,
  growVolumes,
  issueRequested,
  signAuthority,
  runContainers,
  runRecovery,
  readDiskLogs,
  runEtcd,
  tellUsers,
  presentLeaves,
  takeBackup,
] as const satisfies readonly Effect[];

/** So many rounds are more than any of them needs the others for. */
const rounds = 12;

/**
 * The ideal response: everything that was requested has happened, and nothing broke. What is broken already stays as it
 * is: that an image appears, or that a crash does not recur, cannot be foreseen.
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
