import { connect, type GitConnection, type GitLimits } from '../gitops/http.ts';
import type { GitCredentials, GitSource } from '../gitops/source.ts';
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
  fleet: EtcdFleet,
  context: { readonly kube: Kube; readonly signal: AbortSignal; readonly limits?: Partial<GitLimits> },
): Promise<GitConnection> {
  return connect(await fleetSource(fleet, context), context.limits ?? {}, proxyFrom(process.env));
}

/**
 * Where a fleet's specs are, with what its Secret holds.
 *
 * @throws {GitError} InvalidCredentials
 * @throws {KubeError}
 */
export async function fleetSource(
  { spec, metadata: { namespace = '' } }: EtcdFleet,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<GitSource> {
  const { url, ref, path = '.', secretName } = spec.git;
  const credentials = secretName ? await credentialsOf(kube, namespace, secretName, signal) : undefined;
  return { url, ref, path, ...(credentials && { credentials }) };
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
