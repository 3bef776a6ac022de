import { each } from '../../../../requests/program.ts';
import { deleteConfigMap, deletePodOf } from '../../requests/removing.ts';
import { defineAction, namesOf } from '../define.ts';

/** First the ConfigMap, without which kubelet makes no container; then the pod that has one already. */
export const barMembers = defineAction('bar-members', {
  target: ({ members }) => namesOf(members),
  *run({ members }) {
    yield* each(members, function* ({ name, configMap, pod }) {
      if (configMap !== undefined) yield* deleteConfigMap({ name, uid: configMap });
      if (pod !== undefined) yield* deletePodOf({ name, uid: pod });
    });
  },
});
