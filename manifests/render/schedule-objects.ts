import type { EtcdBackup } from '../api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../api/etcd-backup-schedule.ts';
import { parseObjectTemplate, prefixOf, urlOf } from '../api/object-template.ts';
import { scheduleDefaults } from '../api/spec-defaults.ts';
import type { Egress } from '../egress/egress.ts';
import type { Job, ResourceRequirements } from '../kube-types.ts';
import { agentAccess, agentContainer, agentPod, volumesOf } from './agent-container.ts';
import { type JobPodSettings, jobMetadata, placedPod } from './job-pods.ts';
import { smallerResources } from './member-resources.ts';
import { annotations, dueBackupName, labels, pruneJobName } from './names.ts';
import { ownerReference } from './owner-reference.ts';

/** What a schedule makes: an EtcdBackup for a time, and the Job that carries out its retention. */

/** The one EtcdBackup of one due time. */
export function dueBackup(schedule: EtcdBackupSchedule, at: Date): EtcdBackup {
  const { name, namespace } = schedule.metadata;
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: {
      name: dueBackupName(name, at),
      ...(namespace !== undefined && { namespace }),
      labels: { [labels.managedBy]: 'etcd-ratchet', [labels.schedule]: name },
      annotations: { [annotations.dueAt]: at.toISOString() },
      ownerReferences: [ownerReference('EtcdBackupSchedule', schedule)],
    },
    spec: schedule.spec.template,
  };
}

/** Backups that one run deletes: what is left is left to the next. */
const mostDeletions = 200;
/** As many as a status names. */
const mostSpared = 100;
/** Seconds: for the agent, for its pod beyond that, and for people to look at what is over. */
const times = { deadline: 3600, spare: 300, ttl: 24 * 3600 } as const;

export interface PruneOrder {
  readonly after: EtcdBackup;
  /** Those that are under way. */
  readonly spare: readonly EtcdBackup[];
}

interface PrunesWith {
  readonly image: string;
  readonly egress?: Egress | undefined;
  readonly pods?: JobPodSettings;
  /** Of a member's etcd; absent: the cluster is gone. */
  readonly resources?: ResourceRequirements | undefined;
}

/** @throws {RangeError} when the template's name can't be understood. */
export function pruneJob(
  schedule: EtcdBackupSchedule,
  { after, spare }: PruneOrder,
  { image, egress, pods = {}, resources }: PrunesWith,
): Job {
  const { name, namespace = '', uid } = schedule.metadata;
  const { template, timeZone = scheduleDefaults.timeZone, retention: { mode, ...keep } = {} } = schedule.spec;
  const { to, clusterName = '' } = template;
  const parsed = parseObjectTemplate(to.object);
  if ('problem' in parsed) throw new RangeError(parsed.problem);
  const prefix = urlOf({ ...parsed, path: prefixOf(parsed, { namespace, cluster: clusterName }) });
  // It reads and deletes, and opens no snapshot: no key of age.
  const access = agentAccess(parsed, to, 'prove');
  const request = {
    operation: 'prune',
    prefix,
    ...access.request,
    schedule: uid,
    keep,
    timeZone,
    most: mostDeletions,
    dryRun: (mode ?? scheduleDefaults.retentionMode) === 'DryRun',
    spare: spare.flatMap(({ metadata }) => metadata.uid ?? []).slice(0, mostSpared),
    deadlineSeconds: times.deadline,
  };
  const pod = agentPod(to);
  const agent = { name: 'prune', image, request, access, egress, resources: resources && smallerResources(resources) };
  const own = {
    [labels.managedBy]: 'etcd-ratchet',
    [labels.name]: 'etcd-backup',
    ...(clusterName !== '' && { [labels.instance]: clusterName }),
    [labels.schedule]: name,
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: pruneJobName(after.metadata.name),
      namespace,
      labels: own,
      ownerReferences: [ownerReference('EtcdBackupSchedule', schedule)],
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: times.deadline + times.spare,
      ttlSecondsAfterFinished: times.ttl,
      podReplacementPolicy: 'Failed',
      template: {
        metadata: jobMetadata(own, pods.metadata),
        spec: placedPod(
          {
            ...pod,
            containers: [agentContainer(agent)],
            volumes: [...pod.volumes, ...volumesOf(access)],
          },
          pods,
        ),
      },
    },
  };
}
