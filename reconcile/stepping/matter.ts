import type { Wake } from '../cluster/know/decision.ts';
import type { KubeObject } from '../interfaces/kube.ts';
import { endsJob } from '../jobs/job-end.ts';

export type Changing = Extract<Wake, { on: 'change' }>['of'];

interface Status {
  readonly phase?: string;
  readonly ready?: boolean;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  readonly containerStatuses?: readonly {
    readonly restartCount?: number;
    readonly state?: { readonly waiting?: { readonly reason?: string }; readonly terminated?: object };
  }[];
  readonly capacity?: Readonly<Record<string, string>>;
  readonly updateRevision?: string;
}

/** A word for an object that differs when a step could come out differently; empty on the way (a pod that starts). */
export function matterOf(kind: Changing, object: KubeObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return 'leaving';
  const status: Status = (object as { readonly status?: Status }).status ?? {};
  switch (kind) {
    case 'pods':
      return podMatter(status);
    case 'volumeClaims':
      return [status.phase === 'Pending' ? '' : status.phase, ...Object.values(status.capacity ?? {})].join(' ').trim();
    case 'statefulSets':
      return `exists ${status.updateRevision ?? ''}`;
    case 'peers':
      return `exists ${status.ready ?? ''}`;
    case 'jobs':
      return jobMatter(status);
  }
}

/** Its pod ends a moment before: what a step goes by is the Job's own word. */
function jobMatter({ conditions = [] }: Status): string {
  const ends = conditions.filter(({ type, status }) => endsJob(type) && status === 'True');
  return ends.map(({ type }) => type).join(' ');
}

/** `ContainerCreating` and `PodInitializing` are the normal course; every other reason to wait is trouble. */
function podMatter({ phase, conditions = [], containerStatuses = [] }: Status): string {
  if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return 'ready';
  if (phase === 'Failed' || phase === 'Succeeded') return phase;
  const unscheduled = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False')?.reason;
  const troubles = containerStatuses.flatMap(({ state, restartCount = 0 }) => {
    const reason = state?.waiting?.reason;
    if (state?.terminated) return [`exited ${restartCount}`];
    return reason && !['ContainerCreating', 'PodInitializing'].includes(reason) ? [`${reason} ${restartCount}`] : [];
  });
  return [unscheduled ?? '', ...troubles].join(' ').trim();
}
