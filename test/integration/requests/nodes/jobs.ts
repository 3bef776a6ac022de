import type { Job } from '../../../../manifests/kube-types.ts';
import { rebootJob, rebootJobName } from '../../../../manifests/render/reboot-job.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { createJob, deleteJob, readJob } from '../../../../reconcile/nodes/requests/jobs.ts';
import type { NodeContracts } from './contract.ts';
import { type NodesScene, rebootsIn } from './scene.ts';

async function made({ kube, grant }: NodesScene): Promise<Job> {
  const order = {
    namespace: rebootsIn,
    image: 'etcd-ratchet',
    grant,
    method: { kind: 'DBus' },
    deadline: 600,
  } as const;
  return kube.create<Job>(resources.jobs, rebootJob(order));
}

async function ended(scene: NodesScene): Promise<void> {
  const job = await made(scene);
  const at = new Date(Date.now() + 1_000).toISOString();
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: at,
  }));
  const status = { startTime: new Date().toISOString(), completionTime: at, succeeded: 1, conditions };
  await scene.kube.updateStatus<Job>(resources.jobs, { ...job, status } as Job);
}

async function left(scene: NodesScene): Promise<void> {
  const { metadata } = await made(scene);
  await scene.kube.delete(resources.jobs, rebootsIn, rebootJobName(scene.grant.id), {
    preconditions: { uid: metadata.uid ?? '' },
    propagation: 'Background',
  });
}

const asked = ({ grant }: NodesScene) => createJob({ grant, method: { kind: 'DBus' }, deadline: 600 });

function* dropped({ grant: { id } }: NodesScene) {
  const found = yield* readJob({ id });
  return yield* deleteJob({ id, uid: found?.uid ?? 'none' });
}

export const jobs = {
  createJob: [
    { when: 'there is none of that name', asks: (_, scene) => asked(scene) },
    { when: 'there is one', start: made, asks: (_, scene) => asked(scene) },
  ],
  readJob: [
    { when: 'it is under way', start: made, asks: (_, { grant: { id } }) => readJob({ id }) },
    { when: 'it has done its work', start: ended, asks: (_, { grant: { id } }) => readJob({ id }) },
    { when: 'there is none', asks: (_, { grant: { id } }) => readJob({ id }) },
  ],
  deleteJob: [
    { when: 'it is as it was read', start: made, asks: (_, scene) => dropped(scene) },
    { when: 'it is gone by then', start: left, asks: (_, scene) => dropped(scene) },
    {
      when: 'it is another one of that name',
      start: made,
      asks: (_, { grant: { id } }) => deleteJob({ id, uid: 'another' }),
      refused: 'precondition Conflict',
    },
  ],
} as const satisfies Readonly<Record<string, NodeContracts>>;
