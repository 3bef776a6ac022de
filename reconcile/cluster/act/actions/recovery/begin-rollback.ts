import { annotations } from '../../../../../manifests/render/names.ts';
import { moved } from '../../../know/outcome.ts';
import { prepareMembers } from '../birth/prepare-members.ts';
import { defineAction } from '../define.ts';
import { alsoSeen } from './also-seen.ts';

/**
 * Records the first member of the cluster to come, with what it gives up. Nothing of the present cluster is touched: it
 * serves on while the snapshot is restored. Where its members run is remembered from here on: a pod that is deleted by
 * force on a node that is not heard may run on (I11).
 */
export const beginRollback = defineAction('begin-rollback', {
  target: ({ member }) => member.name,
  *run({ approval, member, inputs }, cluster) {
    if (cluster.annotations[annotations.rollBack] !== approval) throw moved('the approval was taken back');
    const { name, record } = member;
    const { recovery } = record;
    const lastSeenOn = yield* alsoSeen(record);
    const seen = recovery ? { ...record, recovery: { ...recovery, lastSeenOn } } : record;
    yield* prepareMembers.run({ kind: 'prepare-members', members: [{ name, record: seen }], inputs }, cluster);
  },
});
