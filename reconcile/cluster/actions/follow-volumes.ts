import { configMap } from '../../../manifests/build/config-map.ts';
import { isControlledBy } from '../../../manifests/build/owner-reference.ts';
import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, livePeer, liveVolume, nameTaken } from './context.ts';

/** Each bootstrap ConfigMap says what its volume says now. */
export async function followVolumes({ peers }: ActionOf<'follow-volumes'>, context: ActContext): Promise<void> {
  await Promise.all(
    peers.map(async (name) => {
      const { record } = await liveVolume(context, name);
      await followRecord(name, record, context);
    }),
  );
}

/** @throws {StepError} when the ConfigMap is sealed and would have to be unsealed, which is never done. */
export async function followRecord(name: string, record: VolumeRecord, context: ActContext): Promise<void> {
  const { kube, signal } = context;
  const peer = await livePeer(context, name);
  const wanted = configMap(peer, record);
  const found = await kube.get<ConfigMap>(resources.configMaps, wanted.metadata.namespace, name, { signal });
  if (!found) {
    await kube.create<ConfigMap>(resources.configMaps, wanted, { signal });
    return;
  }
  if (!isControlledBy(found, peer.metadata.uid ?? '')) throw nameTaken(resources.configMaps, name);
  if (found.immutable) {
    if (wanted.immutable) return;
    throw moved(`ConfigMap ${name} is sealed`);
  }
  const immutable = wanted.immutable === true;
  await kube.update<ConfigMap>(
    resources.configMaps,
    { ...found, ...(wanted.data && { data: wanted.data }), ...(immutable && { immutable }) },
    { signal },
  );
}
