import { connect, type GitConnection } from '../gitops/http.ts';
import type { GitCredentials } from '../gitops/source.ts';
import type { EtcdFleet } from '../manifests/api/etcd-fleet.ts';
import type { Kube } from '../reconcile/kube.ts';
import { proxyFrom } from './environment.ts';
import { readSecret } from './secret.ts';

/**
 * Connects to a fleet's repository, with what its Secret holds, through the proxy that the environment names. Close it when done.
 *
 * @throws {GitError} InvalidCredentials, ProxyRefused
 * @throws {KubeError}
 */
export async function connectFleetGit(
  { spec, metadata: { namespace = '' } }: EtcdFleet,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<GitConnection> {
  const { url, ref, path = '.', secretName } = spec.git;
  const credentials = secretName ? await credentialsOf(kube, namespace, secretName, signal) : undefined;
  return connect({ url, ref, path, ...(credentials && { credentials }) }, {}, proxyFrom(process.env));
}

async function credentialsOf(
  kube: Kube,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<GitCredentials> {
  const { credentialsFromSecret } = await import('../gitops/credentials.ts');
  return credentialsFromSecret(await readSecret(kube, namespace, name, 'spec.git.secretName', signal));
}
