import type { EtcdPeer } from '../api/etcd-peer.ts';
import type { Job, PodSpec } from '../kube-types.ts';
import { agentContainer, agentPod, volumesOf } from './agent-container.ts';
import { dataDirectory } from './etcd-args.ts';
import { etcdutlContainer } from './etcdutl-container.ts';
import { resourcesOf, smallerResources } from './member-resources.ts';
import { dataVolume, etcdContainer, recoveryContainers } from './names.ts';
import { dataMountPath } from './pod-template.ts';
import { keptName } from './restore-paths.ts';
import { scratchUrls } from './scratch.ts';
import { trialOf } from './trial-container.ts';

/** For each of the agent's containers, in seconds: a large database on a slow disk. */
const stageDeadline = 3600;
/** Until the etcd answers that forgets all others, in seconds. */
const startSeconds = 1800;
/** For all of it, with etcdutl, and a pod that is late to start. */
export const newLifeDeadline = 3 * stageDeadline + startSeconds + 3600;

/** How the life begins that takes the place of one which lost its quorum. */
export interface NewLife {
  /** Its cluster ID is made of it. */
  readonly token: string;
  /** By so many revisions it is ahead of the data that it goes on from. */
  readonly bump: number;
}

interface NewLifeOrder extends NewLife {
  readonly image: string;
  /** Of the recovery. */
  readonly id: string;
  readonly attempt: number;
}

/**
 * Makes a new cluster's first member out of the data of one that is left: the agent copies them, an etcd on loopback
 * forgets all other members on that copy, which replays its log, and the agent saves a snapshot of it. etcdutl restores
 * that under names of the attempt, above all that clients saw, and with all before compacted. Last of all the data get
 * another name, and what was restored gets theirs: no etcd ever writes to the data themselves.
 */
export function newLifeSpec(spec: PodSpec, peer: EtcdPeer, order: NewLifeOrder): PodSpec {
  const { image, id, attempt, bump } = order;
  const { copy, force, save, restore, place } = recoveryContainers;
  const { volumes } = agentPod({});
  const data = { name: dataVolume, persistentVolumeClaim: { claimName: peer.metadata.name } };
  const access = { request: { store: {} }, volumes: [], volumeMounts: [] };
  const ours = volumesOf({ volumes: [data] }, { volumes });
  const names = { ...recoveryContainers, trial: force };
  const forced = trialOf(spec, { peer, attempt, names, volumes: ours, forces: true });
  const etcd = spec.containers.find(({ name }) => name === etcdContainer);
  const taken = resourcesOf(spec.containers, spec.resources);
  // That etcd runs on beside what comes after it; where the pod as a whole has resources, all is within these.
  const beside = spec.resources ? {} : smallerResources(taken);
  const volumeMounts = [{ name: dataVolume, mountPath: dataMountPath }];
  const staged = { restorer: { id, attempt }, dataDirectory, deadlineSeconds: stageDeadline };
  const agent = (name: string, request: object, resources = beside) =>
    agentContainer({ name, image, request: { ...staged, ...request }, access, volumeMounts, resources });
  const deadlineSeconds = stageDeadline + startSeconds;
  const saving = { operation: 'save-own', endpoint: scratchUrls.clientUrl, startSeconds, bump, deadlineSeconds };
  return {
    ...spec,
    initContainers: [
      agent(copy, { operation: 'copy-own' }, taken),
      ...forced.containers,
      agent(save, saving),
      ...(etcd ? [etcdutlContainer(restore, { ...etcd, resources: beside }, peer, order)] : []),
    ],
    containers: [agent(place, { operation: 'place', keeps: keptName(id) })],
    volumes: [...forced.volumes, ...ours],
  };
}

/** Whether such a Job makes a new life, and does not only reduce the member list. */
export function beginsLife({ spec }: Pick<Job, 'spec'>): boolean {
  return spec?.template.spec.initContainers?.some(({ name }) => name === recoveryContainers.force) === true;
}
