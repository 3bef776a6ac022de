import type { Job } from '../../manifests/kube-types.ts';
import { isTrue } from '../objects/conditions.ts';

/** Its pod has ended well. */
export function isCompleted({ status }: Job): boolean {
  return isTrue(status, 'Complete');
}

/** When it ended, well or not; absent while it runs. */
export function endOf({ status }: Job): Date | undefined {
  const end = status?.conditions?.find(({ type, status: is }) => endsJob(type) && is === 'True');
  const at = end?.lastTransitionTime;
  return at === undefined ? undefined : new Date(at);
}

export function isOver({ status }: Pick<Job, 'status'>): boolean {
  return status?.conditions?.some(({ type, status: is }) => endsJob(type) && is === 'True') ?? false;
}

/** On a dead node a Job is given up, and never Failed: that comes when its pod is gone. */
export function endsJob(type: string): boolean {
  return type === 'Failed' || type === 'FailureTarget' || type === 'Complete';
}
