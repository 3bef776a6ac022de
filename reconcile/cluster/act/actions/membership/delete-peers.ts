import { each } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { deletePeer } from '../../requests/removing.ts';
import { defineAction, namesOf } from '../define.ts';

/** Only of a resource that is itself being deleted. StatefulSets and pods follow by their owner references. */
export const deletePeers = defineAction('delete-peers', {
  target: ({ peers }) => namesOf(peers),
  *run({ peers }, { deleting }) {
    if (!deleting) throw moved('the cluster is not being deleted');
    yield* each(peers, deletePeer);
  },
});
