import type { Pod } from '../../../manifests/kube-types.ts';
import { publishedImage } from '../../../manifests/release.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';

/** A pod that an invocation claims to run in. Nobody schedules it: its status is what the test says. */
export interface HolderPod {
  /** What the downward API would tell the invocation. */
  readonly env: Readonly<Record<string, string>>;
  /** Its container is seen terminated, as kubelet reports it of a process that was killed. */
  terminate(): Promise<void>;
}

export async function createHolderPod(kube: Kube, namespace: string, name: string): Promise<HolderPod> {
  const spec = {
    schedulerName: 'nobody',
    restartPolicy: 'Never' as const,
    // Jobs that it makes have its image.
    containers: [{ name: 'tick', image: publishedImage }],
  };
  const pod = await kube.create<Pod>(resources.pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec,
  });
  return {
    env: { POD_NAME: name, POD_NAMESPACE: namespace, POD_UID: pod.metadata.uid ?? '' },
    async terminate() {
      const found = await kube.get<Pod>(resources.pods, namespace, name);
      if (!found) throw new Error(`pod ${namespace}/${name} is gone`);
      const containerStatuses = [
        {
          name: 'tick',
          ready: false,
          restartCount: 0,
          image: publishedImage,
          imageID: '',
          state: { terminated: { exitCode: 137, reason: 'Error' } },
        },
      ];
      await kube.updateStatus<Pod>(resources.pods, {
        ...found,
        status: { ...found.status, phase: 'Failed', containerStatuses },
      });
    },
  };
}
