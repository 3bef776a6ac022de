import { configMap } from '../../../manifests/build/config-map.ts';
import { claimReference, isControlledBy, isOfItsClaim } from '../../../manifests/build/owner-reference.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, type LiveVolume, livePeer, liveVolume, nameTaken } from './context.ts';
import { requireSealedDisk } from './live-disk.ts';
import { unmark } from './replacing-mark.ts';

/** Each bootstrap ConfigMap says what its volume says now, and goes with that very claim. */
export async function followVolumes({ peers }: ActionOf<'follow-volumes'>, context: ActContext): Promise<void> {
  await Promise.all(
    peers.map(async (name) => {
      const volume = await liveVolume(context, name);
      await requireSealedDisk(volume, context);
      await followRecord(volume, context);
    }),
  );
}

/**
 * Of an earlier release's ConfigMap the owner was the peer: it is handed over to the claim, which may be done although it is immutable.
 *
 * @throws {StepError} when the ConfigMap is sealed and would have to be unsealed, which is never done.
 */
export async function followRecord({ claim, record }: LiveVolume, context: ActContext): Promise<void> {
  const { kube, signal } = context;
  const { name } = claim.metadata;
  const peer = await livePeer(context, name);
  // A mark that arrived late would outlive the seal, which goes with the claim.
  if (record.state !== 'bootstrapping') await unmark(peer, context);
  const wanted = configMap(peer, record, claim);
  const found = await kube.get<ConfigMap>(resources.configMaps, wanted.metadata.namespace, name, { signal });
  if (!found) {
    await kube.create<ConfigMap>(resources.configMaps, wanted, { signal });
    return;
  }
  const isClaims = isControlledBy(found, claim.metadata.uid ?? '');
  if (!isClaims && !isControlledBy(found, peer.metadata.uid ?? '')) throw notOurs(found);
  if (found.immutable && !wanted.immutable) throw moved(`ConfigMap ${name} is sealed`);
  if (found.immutable && isClaims) return;
  const metadata = { ...found.metadata, ownerReferences: [claimReference(claim)] };
  const content = found.immutable
    ? {}
    : { ...(wanted.data && { data: wanted.data }), ...(wanted.immutable && { immutable: true }) };
  await kube.update<ConfigMap>(resources.configMaps, { ...found, ...content, metadata }, { signal });
}

/** Whose claim has gone is being collected. */
export function notOurs(found: ConfigMap): Error {
  const { name } = found.metadata;
  return isOfItsClaim(found)
    ? moved(`ConfigMap ${name} is that of an earlier claim`)
    : nameTaken(resources.configMaps, name);
}
