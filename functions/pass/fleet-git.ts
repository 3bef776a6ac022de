import { GitError } from '../../gitops/git/error.ts';
import { connect, type GitConnection } from '../../gitops/git/http.ts';
import type { GitCredentials, GitSource } from '../../gitops/git/source.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { assertAllowed, EgressError, strictEgress } from '../../manifests/egress/egress.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import { networkFrom } from '../environment.ts';
import { readSecret } from './secret.ts';

/**
 * Connects to a fleet's repository with its Secret, through the environment's proxy. The caller closes it.
 * @throws {GitError} InvalidCredentials, ProxyRefused
 * @throws {KubeError}
 */
export async function connectFleetGit(
  fleet: EtcdFleet,
  context: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<GitConnection> {
  return connect(await fleetSource(fleet, context), {}, networkFrom(process.env));
}

/**
 * Where a fleet's specs are, with its credentials. Those of a GitHub App cost a request, for a token that reads this
 * repository. @throws {GitError} InvalidCredentials, HostRefused, PlainHttpRefused, and GitHub's refusals of an App
 * @throws {KubeError}
 */
export async function fleetSource(
  { spec, metadata: { namespace = '' } }: EtcdFleet,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<GitSource> {
  const { url, ref, path = '.', secretName } = spec.git;
  if (!secretName) return { url, ref, path };
  assertSecretMayGo(url);
  const data = await readSecret(kube, namespace, secretName, 'spec.git.secretName', signal);
  return { url, ref, path, credentials: await credentialsIn(data, spec, signal) };
}

/** Before the Secret is read: it goes nowhere else. @throws {GitError} HostRefused, PlainHttpRefused */
function assertSecretMayGo(url: string): void {
  try {
    assertAllowed(new URL(url), true, networkFrom(process.env).egress ?? strictEgress);
  } catch (error) {
    throw error instanceof EgressError ? new GitError(error.reason, error.message) : error;
  }
}

async function credentialsIn(
  data: Readonly<Record<string, string>>,
  { git: { url }, forge }: EtcdFleet['spec'],
  signal: AbortSignal,
): Promise<GitCredentials> {
  if (!Object.hasOwn(data, 'appId')) {
    const [{ credentialsFromSecret }, { withTokenAs }] = await Promise.all([
      import('../../gitops/git/credentials.ts'),
      import('../../gitops/forges/git-tokens.ts'),
    ]);
    return withTokenAs(credentialsFromSecret(data), url, forge?.type);
  }
  const { appCredentials } = await import('../../gitops/forges/github/app-credentials.ts');
  const apiURL = forge?.type === 'GitHub' ? forge.apiURL : undefined;
  const access = { gitUrl: url, network: networkFrom(process.env), ...(apiURL && { apiURL }) };
  return await appCredentials(data, access, signal);
}
