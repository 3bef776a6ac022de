import { memberOfJob } from '../../../../../manifests/render/names.ts';
import { deleteJob } from '../../requests/recovery.ts';
import { defineAction } from '../define.ts';

/** A Job that is no longer needed, or is to be recreated. */
export const deleteRecoveryJob = defineAction('delete-recovery-job', {
  target: ({ job }) => job.name,
  *run({ job: { name, uid } }) {
    yield* deleteJob({ ...memberOfJob(name), uid });
  },
});
