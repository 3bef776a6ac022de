import { labelsOf, peerLabels } from '../../../manifests/build/names.ts';
import { type KubeObject, type Resource, resources } from '../../kube.ts';
import type { ActionOf, LabelledRef } from '../actions.ts';
import { isListed } from '../listed.ts';
import { needsPerson } from '../outcome.ts';
import type { ActContext } from './context.ts';

const resourceOf = {
  peer: resources.peers,
  volume: resources.volumeClaims,
  configMap: resources.configMaps,
  statefulSet: resources.statefulSets,
} as const satisfies Record<LabelledRef['of'], Resource>;

/**
 * Our labels come back; those of others stay.
 *
 * Each object is read again: only the one that was judged ours, by its UID, and only over exactly what was read.
 */
export async function restoreLabels({ objects }: ActionOf<'restore-labels'>, context: ActContext): Promise<void> {
  for (const object of objects) await restore(object, context);
}

/** @throws {StepError} `LabelsRefused` when they are gone again in the answer: an admission policy takes them off. */
export async function restore({ of, name, uid }: LabelledRef, { kube, cluster, signal }: ActContext): Promise<void> {
  const resource = resourceOf[of];
  const { namespace, name: clusterName } = cluster.metadata;
  const found = await kube.get<KubeObject>(resource, namespace, name, { signal });
  if (found?.metadata.uid !== uid || found.metadata.deletionTimestamp !== undefined) return;
  if (isListed(found, clusterName)) return;
  const labels = { ...found.metadata.labels, ...labelsOf(clusterName), ...peerLabels(clusterName, name) };
  const metadata = { ...found.metadata, labels };
  const written = await kube.update<KubeObject>(resource, { ...found, metadata }, { signal });
  if (isListed(written, clusterName)) return;
  throw needsPerson(
    'LabelsRefused',
    `the labels of ${resource.kind} ${name} are taken off again as soon as they are set, so an admission policy does it. To go on: exempt the objects of EtcdCluster ${clusterName} from that policy`,
  );
}
