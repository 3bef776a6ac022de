import { type Authority, authoritySecretName, type LeafPlan } from '../../../manifests/build/certificate-names.ts';
import { isAuthorityOf } from '../../../manifests/build/certificate-secret.ts';
import { annotations } from '../../../manifests/build/names.ts';
import { isControlledBy, ownerReference } from '../../../manifests/build/owner-reference.ts';
import type { OwnerReference, Secret } from '../../../manifests/kube-types.ts';
import { isReason, resources } from '../../kube.ts';
import { moved } from '../outcome.ts';
import { type ActContext, livePeer, nameTaken } from './context.ts';

/** Reading and writing the Secrets of certificates: nobody else's is ever changed, and nothing is written over what is newer. */

export async function liveSecret({ kube, cluster, signal }: ActContext, name: string): Promise<Secret | undefined> {
  return kube.get<Secret>(resources.secrets, cluster.metadata.namespace, name, { signal });
}

/** @throws {StepError} `NameTaken` when somebody else's Secret has the name. */
export async function liveAuthority(context: ActContext, authority: Authority): Promise<Secret | undefined> {
  const { name } = context.cluster.metadata;
  const found = await liveSecret(context, authoritySecretName(name, authority));
  if (found && !isAuthorityOf(name, found)) throw nameTaken(resources.secrets, found.metadata.name);
  return found;
}

/** @throws {StepError} `NameTaken` when somebody else's Secret has the name. */
export async function liveLeaf(
  context: ActContext,
  plan: LeafPlan,
  owner: OwnerReference,
): Promise<Secret | undefined> {
  const found = await liveSecret(context, plan.secretName);
  if (found && !isControlledBy(found, owner.uid)) throw nameTaken(resources.secrets, found.metadata.name);
  return found;
}

/**
 * By POST where there was none, else by PUT over exactly what was read: whoever was faster is not undone.
 *
 * @throws {StepError | KubeError}
 */
export async function writeSecret(
  { kube, signal }: ActContext,
  wanted: Secret,
  found: Secret | undefined,
): Promise<Secret> {
  try {
    if (!found) return await kube.create<Secret>(resources.secrets, wanted, { signal });
    const { resourceVersion, uid } = found.metadata;
    const metadata = {
      ...found.metadata,
      ...wanted.metadata,
      labels: { ...found.metadata.labels, ...wanted.metadata.labels },
      annotations: { ...othersOf(found), ...wanted.metadata.annotations },
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(uid !== undefined && { uid }),
    };
    // The type of a Secret never changes; data of ours fit any.
    return await kube.update<Secret>(
      resources.secrets,
      { ...found, metadata, data: { ...found.data, ...wanted.data } },
      { signal },
    );
  } catch (error) {
    if (isReason(error, 'AlreadyExists') || isReason(error, 'Conflict')) {
      throw moved(`Secret ${wanted.metadata.name} was written by somebody else meanwhile`);
    }
    throw error;
  }
}

/** Who a leaf goes with. @throws {StepError} when its peer is gone, or another one of the same name. */
export async function leafOwner(
  { plan, peerUid }: { readonly plan: LeafPlan; readonly peerUid?: string },
  context: ActContext,
): Promise<OwnerReference> {
  if (plan.peer === undefined) return ownerReference('EtcdCluster', context.cluster);
  const peer = await livePeer(context, plan.peer);
  if (peer.metadata.uid !== peerUid) throw moved(`peer ${plan.peer} was made anew`);
  return ownerReference('EtcdPeer', peer);
}

/** What others noted. Our own notes were about what is replaced. */
function othersOf({ metadata }: Secret): Record<string, string> {
  const ours: readonly string[] = [
    annotations.token,
    annotations.trust,
    annotations.rotateCertificates,
    annotations.servedSince,
  ];
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !ours.includes(key)));
}
