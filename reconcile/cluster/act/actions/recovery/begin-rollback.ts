import { annotations } from '../../../../../manifests/render/names.ts';
import { moved } from '../../../know/outcome.ts';
import { prepareMembers } from '../birth/prepare-members.ts';
import { defineAction } from '../define.ts';

/**
 * Records the first member of the cluster to come, with what it gives up. Nothing of the present cluster is touched: it
 * serves on while the snapshot is restored.
 */
export const beginRollback = defineAction('begin-rollback', {
  target: ({ member }) => member.name,
  *run({ approval, member, inputs }, cluster) {
    if (cluster.annotations[annotations.rollBack] !== approval) throw moved('the approval was taken back');
    yield* prepareMembers.run({ kind: 'prepare-members', members: [member], inputs }, cluster);
  },
});
