import { act, type Decision, wait } from '../../../know/decision.ts';
import type { RecoveryJobView } from '../../../know/observation.ts';
import { stuckRecoveryPod } from '../../../know/pods/stuck.ts';
import type { Situation } from '../../../know/situation.ts';

/** What the Job of a recovery, or of a restore, leaves: it has the volume, which no member may open meanwhile. */

type Of = 'recovery' | 'restore';

/** When to look again. */
export const soon = [
  { on: 'change', of: 'pods' },
  { on: 'time', afterSeconds: 2 },
] as const;

/** How many seconds of a pause of so many since its end are left; none where its end is not known. */
export function pauseLeft({ endedAt }: Pick<RecoveryJobView, 'endedAt'>, seconds: number, at: Date): number {
  return endedAt ? Math.max(0, Math.ceil(seconds - (at.getTime() - endedAt.getTime()) / 1000)) : 0;
}

/** A Job that is no longer needed, or that an outdated invocation made: its number keeps it from having any effect. */
export function leftover({ recovery }: Situation, of: Of): Decision | undefined {
  if (recovery?.kind !== 'known' || !recovery.job || recovery.job.leaving) return undefined;
  const { name, uid } = recovery.job;
  return act(
    { kind: 'delete-recovery-job', job: { name, uid } },
    'DeletingRecoveryJob',
    `deleting Job ${name}: the ${of} is over`,
  );
}

/** Two pods would have the same data open. */
export function podLeaving(situation: Situation, of: Of): Decision | undefined {
  const { recovery } = situation;
  if (recovery?.kind === 'unknown') return wait('RecoveryPodLeaving', recovery.cause, ...soon);
  if (!recovery || (recovery.pods.length === 0 && !recovery.job)) return undefined;
  return leaving(`the pod of the ${of} is terminating; then its member starts`, situation);
}

/** On a dead node the pod never ends: then a person is told. */
export function leaving(message: string, situation: Situation): Decision {
  return stuckRecoveryPod(situation) ?? wait('RecoveryPodLeaving', message, ...soon);
}
