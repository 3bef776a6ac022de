import { podName } from '../../../manifests/build/names.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import type { ActContext } from './context.ts';

/** First the ConfigMap, without which kubelet makes no container; then the pod that has one already. */
export async function barMembers({ members }: ActionOf<'bar-members'>, context: ActContext): Promise<void> {
  const { kube, cluster, signal } = context;
  const { namespace } = cluster.metadata;
  await Promise.all(
    members.map(async ({ name, configMap, pod }) => {
      if (configMap)
        await kube.delete(resources.configMaps, namespace, name, { preconditions: { uid: configMap }, signal });
      if (pod) await kube.delete(resources.pods, namespace, podName(name), { preconditions: { uid: pod }, signal });
    }),
  );
}
