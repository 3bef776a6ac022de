import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { claimNamedIn, parseObjectTemplate, prefixOf } from '../../manifests/api/object-template.ts';
import type { Egress } from '../../manifests/egress/egress.ts';
import { placeRefusal } from '../../manifests/egress/host-refusal.ts';
import type { ResourceRequirements } from '../../manifests/kube-types.ts';
import { type JobPodSettings, jobPodsOf } from '../../manifests/render/job-pods.ts';
import { memberResources } from '../../manifests/render/member-resources.ts';
import { namedBy } from '../../manifests/render/offers.ts';
import { isControlledBy } from '../../manifests/render/owner-reference.ts';
import { dueBackup, pruneJob } from '../../manifests/render/schedule-objects.ts';
import { hostNamed } from '../../manifests/stores/stores.ts';
import { deleteOwn } from '../backup/delete-own.ts';
import { isReason, type Kube, KubeError, resources } from '../interfaces/kube.ts';
import { problemOfClaim } from '../objects/member-volume.ts';
import { problemOfOffers } from '../objects/offers.ts';
import type { ScheduleAction } from './decide.ts';

export interface ScheduleActContext {
  readonly kube: Kube;
  readonly signal: AbortSignal;
  /** That this invocation runs from. */
  readonly image: () => Promise<string>;
  /** Where the installation lets Jobs go. Absent: what one that says nothing allows. */
  readonly egress?: Egress | undefined;
}

/** What was done, and what was refused: the rest goes on. */
export interface ScheduleDeed {
  readonly action: ScheduleAction;
  /** Made by this very request; absent where another invocation was faster. */
  readonly created?: string;
  readonly failure?: KubeError;
}

/** In order: what begins anew comes after what is given up for it, and not where that failed. The rest goes on. */
export async function actOnSchedule(
  schedule: EtcdBackupSchedule,
  actions: readonly ScheduleAction[],
  context: ScheduleActContext,
): Promise<readonly ScheduleDeed[]> {
  const deeds: ScheduleDeed[] = [];
  for (const action of actions) {
    if (action.kind === 'start' && deeds.some(({ failure }) => failure)) continue;
    try {
      deeds.push({ action, ...(await carryOut(schedule, action, context)) });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      deeds.push({ action, failure: error });
    }
  }
  return deeds;
}

async function carryOut(
  schedule: EtcdBackupSchedule,
  action: ScheduleAction,
  { kube, signal, image, egress }: ScheduleActContext,
): Promise<{ readonly created?: string }> {
  switch (action.kind) {
    case 'start':
      return begin(schedule, dueBackup(schedule, action.at), kube, signal);
    case 'prune':
      refuseHost(schedule, egress);
      await refuseUnoffered(schedule, kube, signal);
      return once(
        kube.create(
          resources.jobs,
          pruneJob(schedule, action, { image: await image(), egress, ...(await asMembers(schedule, kube, signal)) }),
          { signal },
        ),
      );
    case 'give-up':
    case 'forget':
      for (const backup of action.backups) await deleteOwn(kube, resources.backups, backup.metadata, signal);
      return {};
  }
}

/**
 * Where members run, its pod runs, with what a quota of theirs admits: the cluster may be gone, and the schedule's own
 * words count alone.
 */
async function asMembers(
  { metadata: { namespace }, spec: { template } }: EtcdBackupSchedule,
  kube: Kube,
  signal: AbortSignal,
): Promise<{ readonly pods: JobPodSettings; readonly resources?: ResourceRequirements }> {
  const { clusterName, podTemplate } = template;
  const cluster =
    clusterName === undefined
      ? undefined
      : await kube.get<EtcdCluster>(resources.clusters, namespace, clusterName, { signal });
  const pods = jobPodsOf(podTemplate, cluster?.spec);
  return cluster ? { pods, resources: memberResources(cluster.spec) } : { pods };
}

/** @throws {KubeError} `HostRefused`: the installation lets no Job go to that store. */
function refuseHost({ metadata, spec }: EtcdBackupSchedule, egress: Egress | undefined): void {
  const { to, clusterName = '' } = spec.template;
  const { namespace = '' } = metadata;
  const template = parseObjectTemplate(to.object);
  if ('problem' in template) return;
  // What it deletes begins with this.
  const location = { ...template, path: prefixOf(template, { namespace, cluster: clusterName }) };
  throwIf(placeRefusal({ location, host: hostNamed(template, to), namespace }, egress), 'HostRefused');
}

/** @throws {KubeError} `NotOffered`: its owner lets no backup use what the schedule names; `MemberVolume` */
async function refuseUnoffered(
  { metadata: { namespace }, spec: { template } }: EtcdBackupSchedule,
  kube: Kube,
  signal: AbortSignal,
): Promise<void> {
  const claimName = claimNamedIn(parseObjectTemplate(template.to.object));
  if (claimName !== undefined)
    throwIf(await problemOfClaim(kube, { namespace, claimName, clusters: [] }, signal), 'MemberVolume');
  throwIf(await problemOfOffers(kube, { namespace, named: namedBy(template.to) }, signal), 'NotOffered');
}

function throwIf(problem: string | undefined, reason: string): void {
  if (problem !== undefined) throw new KubeError(problem, { class: 'terminal', reason });
}

/** @throws {KubeError} also where something else has the name: a time without a backup is not taken for dealt with. */
async function begin(
  { metadata: { uid = '' } }: EtcdBackupSchedule,
  backup: EtcdBackup,
  kube: Kube,
  signal: AbortSignal,
): Promise<{ readonly created?: string }> {
  const made = await once(kube.create(resources.backups, backup, { signal }));
  if (made.created !== undefined) return made;
  const { namespace, name } = backup.metadata;
  const found = await kube.get<EtcdBackup>(resources.backups, namespace, name, { signal });
  if (found === undefined || isControlledBy(found, uid)) return made;
  const message = `EtcdBackup ${name} belongs to something else: delete it; else the next one begins when it is due`;
  throw new KubeError(message, { class: 'terminal', status: 409, reason: 'NameTaken' });
}

/** POST is the lock: the name says for which time, or after which backup. */
async function once(made: Promise<{ readonly metadata: { readonly name: string } }>): Promise<{ created?: string }> {
  try {
    return { created: (await made).metadata.name };
  } catch (error) {
    if (isReason(error, 'AlreadyExists')) return {};
    throw error;
  }
}
