import type { NodeGrant } from '../../../manifests/api/etcd-node-policy.ts';
import type { Job } from '../../../manifests/kube-types.ts';
import { type RebootMethod, rebootJob, rebootJobName } from '../../../manifests/render/reboot-job.ts';
import { isReason, resources } from '../../interfaces/kube.ts';
import { conflict } from '../../requests/refusals.ts';
import type { JobSeen } from '../observation.ts';
import { jobSeen } from '../pods.ts';
import { defineNodeRequest } from './request.ts';

export interface NewJob {
  readonly grant: NodeGrant;
  readonly method: RebootMethod;
  /** In seconds. */
  readonly deadline: number;
}

/** Answers its UID; `undefined`: there is one of that name. */
export const createJob = defineNodeRequest<'createJob', NewJob, string | undefined>('createJob', {
  words: ({ grant }) => `makes the Job of ${grant.node}`,
  writes: ({ grant }) => ({ object: `job/${grant.id}`, fence: 'absent' }),
  live: async ({ grant, method, deadline }, { kube, image, rebootsIn, signal }) => {
    const job = rebootJob({ namespace: rebootsIn, image: await image(), grant, method, deadline });
    try {
      return (await kube.create<Job>(resources.jobs, job, { signal })).metadata.uid ?? '';
    } catch (error) {
      if (isReason(error, 'AlreadyExists')) return undefined;
      throw error;
    }
  },
  model: (state, { grant }, host) => {
    if (host.job(state, grant.id)) return { state, answer: undefined };
    const made = host.withNewJob(state, grant.id, grant.node);
    return { state: made, answer: host.job(made, grant.id)?.uid ?? '' };
  },
});

/** Absent where there is none, or it is being deleted. */
export const readJob = defineNodeRequest<'readJob', { readonly id: string }, JobSeen | undefined>('readJob', {
  words: () => 'reads the Job',
  live: async ({ id }, { kube, rebootsIn, signal }) => {
    const job = await kube.get<Job>(resources.jobs, rebootsIn, rebootJobName(id), { signal });
    return job && job.metadata.deletionTimestamp === undefined ? jobSeen(job) : undefined;
  },
  model: (state, { id }, host) => ({ state, answer: host.job(state, id) }),
});

export const deleteJob = defineNodeRequest<'deleteJob', { readonly id: string; readonly uid: string }, undefined>(
  'deleteJob',
  {
    words: () => 'deletes the Job',
    writes: ({ id }) => ({ object: `job/${id}`, fence: 'uid' }),
    live: async ({ id, uid }, { kube, rebootsIn, signal }) => {
      const options = { preconditions: { uid }, propagation: 'Background', signal } as const;
      await kube.delete(resources.jobs, rebootsIn, rebootJobName(id), options);
      return undefined;
    },
    model: (state, { id, uid }, host) => {
      const found = host.job(state, id);
      if (found && found.uid !== uid) throw conflict(`Job ${found.name} is another one by now`);
      return { state: found ? host.withoutJob(state, id) : state, answer: undefined };
    },
  },
);
