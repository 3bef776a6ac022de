import type { SnapshotSource } from '../api/backup-settings.ts';
import type { EtcdPeer } from '../api/etcd-peer.ts';
import { parseLocation } from '../api/object-template.ts';
import type { Egress } from '../egress/egress.ts';
import type { Job, PodSpec, ResourceRequirements } from '../kube-types.ts';
import { agentAccess, agentContainer, agentPod, volumesOf } from './agent-container.ts';
import { dataDirectory } from './etcd-args.ts';
import { etcdutlContainer } from './etcdutl-container.ts';
import { memberJob } from './member-job.ts';
import { resourcesOf, smallerResources } from './member-resources.ts';
import { dataVolume, etcdContainer, restoreJobName, restorePodLabels } from './names.ts';
import { dataMountPath, type Offered, podTemplate } from './pod-template.ts';
import { scratchUrls } from './scratch.ts';
import { trialOf } from './trial-container.ts';

/** The containers, in their order. etcdutl's runs in etcd's own image, which has no shell. */
export const restoreContainers = {
  fetch: 'fetch',
  restore: 'restore',
  copy: 'copy',
  trial: 'trial',
  place: 'place',
} as const;

/** For fetching, in seconds: a large database over a slow link. */
const fetchDeadline = 6 * 3600;
const placeDeadline = 3600;
/** Until an etcd answers that was started on a copy, in seconds. */
const trialDeadline = 1800;
/** For all of it, with etcdutl between the two, and a pod that is late to start. */
const jobDeadline = fetchDeadline + 3 * placeDeadline + trialDeadline + 3600;

export interface RestoreOrder {
  /** etcd-ratchet's own. */
  readonly image: string;
  readonly snapshot: SnapshotSource;
  readonly id: string;
  readonly attempt: number;
  /** Of the birth: the new cluster's ID is made of it. */
  readonly token: string;
  /** By so many revisions the restored store is ahead of the snapshot, so that no watcher goes back in time. */
  readonly bump: number;
  /** An etcd as the member will be must serve a copy before the data get their name. */
  readonly trial?: boolean | undefined;
  readonly egress?: Egress | undefined;
}

/**
 * Makes a member's data out of a snapshot, once: fetched and checked under a name of this attempt, restored by etcdutl
 * of the member's version, and then given the name of the data directory. An etcd runs on a copy, if at all.
 *
 * Kubernetes never restarts or repeats it.
 *
 * @throws {TypeError} for an object that is none; the API refuses those before they come here.
 */
export function restoreJob(peer: EtcdPeer, order: RestoreOrder, offered?: Offered): Job {
  const { metadata, spec } = podTemplate(peer, offered);
  return memberJob(peer, metadata, {
    name: restoreJobName(peer.metadata.name),
    id: order.id,
    attempt: order.attempt,
    podLabels: restorePodLabels(peer.spec.clusterName),
    spec: podSpec(spec, peer, order),
    activeDeadlineSeconds: jobDeadline,
  });
}

function podSpec(spec: PodSpec, peer: EtcdPeer, order: RestoreOrder): PodSpec {
  const { snapshot, image, attempt, token, bump, trial = false, egress } = order;
  const location = parseLocation(snapshot.object);
  if ('problem' in location) throw new TypeError(`bootstrap.snapshot.object: ${location.problem}`);
  const access = agentAccess(location, snapshot, 'read');
  const { volumes } = agentPod({});
  const data = { name: dataVolume, persistentVolumeClaim: { claimName: peer.metadata.name } };
  const staged = { restorer: { id: token, attempt }, dataDirectory };
  const fetch = {
    operation: 'stage',
    object: snapshot.object,
    ...access.request,
    ...staged,
    version: peer.spec.version,
    ...(snapshot.sha256 !== undefined && { sha256: snapshot.sha256 }),
    ...(snapshot.revision !== undefined && { revision: snapshot.revision }),
    bump,
    deadlineSeconds: fetchDeadline,
  };
  const { clientUrl: endpoint } = scratchUrls;
  const place = {
    operation: 'place',
    ...staged,
    deadlineSeconds: placeDeadline + (trial ? trialDeadline : 0),
    ...(trial && { trial: { endpoint, startSeconds: trialDeadline } }),
  };
  const copy = { operation: 'stage-trial', ...staged, deadlineSeconds: placeDeadline };
  // What it does asks no store.
  const ofVolume = { ...access, request: { store: {} }, volumeMounts: [] };
  const volumeMounts = [{ name: dataVolume, mountPath: dataMountPath }];
  const etcd = spec.containers.find((container) => container.name === etcdContainer);
  const ours = volumesOf({ volumes: [data] }, access, { volumes });
  const tried = trial ? trialOf(spec, { peer, attempt, names: restoreContainers, volumes: ours }) : undefined;
  const { serviceAccountName = spec.serviceAccountName } = snapshot;
  const resources = resourcesOf(spec.containers, spec.resources);
  return {
    ...spec,
    ...(serviceAccountName !== undefined && { serviceAccountName }),
    initContainers: [
      agentContainer({ name: restoreContainers.fetch, image, request: fetch, access, volumeMounts, egress, resources }),
      ...(etcd ? [etcdutlContainer(restoreContainers.restore, etcd, peer, order)] : []),
      ...(tried
        ? [
            agentContainer({
              name: restoreContainers.copy,
              image,
              request: copy,
              access: ofVolume,
              volumeMounts,
              resources,
            }),
            ...tried.containers,
          ]
        : []),
    ],
    containers: [
      agentContainer({
        name: restoreContainers.place,
        image,
        request: place,
        access: ofVolume,
        volumeMounts,
        resources: trial ? besideTrial(spec, resources) : resources,
      }),
    ],
    // Nothing of the member's certificates, which etcdutl has no use for.
    volumes: [...(tried?.volumes ?? []), ...ours],
  };
}

/** Where the pod as a whole has resources, the etcd of the trial may take all of them: ours is one of those within. */
function besideTrial({ resources: ofPod }: PodSpec, resources: ResourceRequirements): ResourceRequirements {
  return ofPod ? {} : smallerResources(resources);
}

/** Whether what such a Job made is served before it ends well. */
export function hasTrial({ spec }: Pick<Job, 'spec'>): boolean {
  return spec?.template.spec.initContainers?.some(({ name }) => name === restoreContainers.trial) === true;
}
