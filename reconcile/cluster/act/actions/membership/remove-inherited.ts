import { annotations } from '../../../../../manifests/render/names.ts';
import { moved } from '../../../know/outcome.ts';
import { defineAction } from '../define.ts';
import { removeMember } from './remove-member.ts';

/**
 * Removes a member of a cluster that is taken over from the list, for ever. There is nothing of ours to mark or to
 * delete: its pod and its volume belong to others.
 *
 * Guards I9: a person's approval of exactly that is still there, and all that guards the removal of a member of ours.
 */
export const removeInherited = defineAction('remove-inherited', {
  target: ({ name }) => name,
  *run({ kind: _, approval, ...leaves }, cluster) {
    if (cluster.annotations[annotations.adopt] !== approval) throw moved('the approval was taken back');
    yield* removeMember.run({ kind: 'remove-member', ...leaves }, cluster);
  },
});
