import { isHigher, isMinorBelow, isVersion } from '../../../../../manifests/api/version.ts';
import { isBeforeFirstStart } from '../../../../../manifests/render/volume-record.ts';
import type { Program } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { leavesOutMinor } from '../../../know/versions/versions-run.ts';
import type { PodRead } from '../../requests/pods.ts';
import { askMayGoBackTo } from '../../requests/versions.ts';
import { liveVolume, readVolume, writeRecord } from '../../requests/volumes.ts';

/**
 * Guards I6, just before a member is given, or started on, a version: its pod did not run a higher minor; or another
 * member never did, nor can come up on it meanwhile, and no member that answers says that the cluster version has
 * moved. Then the volume is told what ran: the pod that shows it goes.
 *
 * @throws {StepError} otherwise.
 */
export function* clearToRun(name: string, pod: PodRead | undefined, version: string): Program {
  const ran = yield* higherThat(name, pod, version);
  if (ran !== undefined) yield* noteRan(name, ran);
}

/**
 * The same where no pod ends for it. A PVC that is being deleted goes with its pod and takes no annotation: nothing is
 * left then that a lower minor could open.
 */
export function* clearToBeTold(name: string, pod: PodRead | undefined, version: string): Program {
  const ran = yield* higherThat(name, pod, version);
  if (ran === undefined) return;
  const volume = yield* readVolume({ name });
  if (volume && !volume.leaving) yield* noteRan(name, ran);
}

/** The version of a higher minor that it ran, and may leave. @throws {StepError} when it may not. */
function* higherThat(name: string, pod: PodRead | undefined, version: string): Program<string | undefined> {
  const ran = pod?.everStarted ? pod.version : undefined;
  if (!isVersion(ran) || !isMinorBelow(version, ran)) return undefined;
  if (!(yield* askMayGoBackTo({ version })))
    throw moved(`${name} has run etcd ${ran}, and may not go back to ${version}`);
  return ran;
}

/**
 * Before a member goes back to a lower version: the next pod of the higher one, if there is one, would not show that it
 * has run. What its data do not follow has not.
 */
function* noteRan(name: string, version: string): Program {
  const { record, readAt } = yield* liveVolume(name);
  if (isBeforeFirstStart(record) || !isHigher(version, record.version) || leavesOutMinor(version, record)) return;
  yield* writeRecord({ readAt, record: { ...record, version } });
}
