import { isAuthorityOf } from '../../../manifests/build/certificate-secret.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { liveSecret } from './certificate-secrets.ts';
import type { ActContext } from './context.ts';

/** Deletes the CAs of a cluster that is being deleted together with its volumes; nobody is left who could trust them. */
export async function deleteAuthorities(
  { secrets }: ActionOf<'delete-authorities'>,
  context: ActContext,
): Promise<void> {
  const { kube, cluster, signal } = context;
  const { namespace, name: clusterName, deletionTimestamp } = cluster.metadata;
  if (deletionTimestamp === undefined) throw moved(`${clusterName} is not being deleted`);
  for (const { name, uid } of secrets) {
    const found = await liveSecret(context, name);
    if (!found || found.metadata.uid !== uid || !isAuthorityOf(clusterName, found)) continue;
    await kube.delete(resources.secrets, namespace, name, { preconditions: { uid }, signal });
  }
}
