import { connect, type GitConnection } from '../../gitops/git/http.ts';
import type { GitCredentials, GitSource } from '../../gitops/git/source.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { Kube } from '../../reconcile/kube.ts';
import { proxyFrom } from '../environment.ts';
import { readSecret } from './secret.ts';

/**
 * Connects to a fleet's repository, with what its Secret holds, through the proxy that the environment names. Close it
 * when done.
 *
 * @throws {GitError} InvalidCredentials, ProxyRefused
 * @throws {KubeError}
 */
export async function connectFleetGit(
  fleet: EtcdFleet,
  context: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<GitConnection> {
  return connect(await fleetSource(fleet, context), {}, proxyFrom(process.env));
}

/**
 * Where a fleet's specs are, with what its Secret holds. A GitHub App's costs a request: for a token that reads this
 * repository.
 *
 * @throws {GitError} InvalidCredentials, and for an App what GitHub has against it
 * @throws {KubeError}
 */
export async function fleetSource(
  { spec, metadata: { namespace = '' } }: EtcdFleet,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<GitSource> {
  const { url, ref, path = '.', secretName } = spec.git;
  if (!secretName) return { url, ref, path };
  const data = await readSecret(kube, namespace, secretName, 'spec.git.secretName', signal);
  return { url, ref, path, credentials: await credentialsIn(data, spec, signal) };
}

async function credentialsIn(
  data: Readonly<Record<string, string>>,
  { git: { url }, forge }: EtcdFleet['spec'],
  signal: AbortSignal,
): Promise<GitCredentials> {
  if (!Object.hasOwn(data, 'appId')) {
    const { credentialsFromSecret } = await import('../../gitops/git/credentials.ts');
    return credentialsFromSecret(data);
  }
  const { appCredentials } = await import('../../gitops/forges/github/app-credentials.ts');
  const apiUrl = forge?.type === 'GitHub' ? forge.apiUrl : undefined;
  const access = { gitUrl: url, proxy: proxyFrom(process.env), ...(apiUrl && { apiUrl }) };
  return await appCredentials(data, access, signal);
}
