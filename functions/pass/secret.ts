import { GitError } from '../../gitops/git/error.ts';
import { type Kube, resources } from '../../reconcile/interfaces/kube.ts';
import { type FleetSecret, isShared, shareCommand } from '../fleet-secret.ts';

/**
 * The data of a Secret that a fleet names, as it is: base64.
 *
 * @throws {GitError} InvalidCredentials when there is none, or it is a service account's; SecretNotShared without the
 *   label by which its owner lets fleets use it
 * @throws {KubeError}
 */
export async function readSecret(
  kube: Kube,
  namespace: string,
  name: string,
  field: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const secret = await kube.get<FleetSecret>(resources.secrets, namespace, name, { signal });
  // It has a key `token`, too, and the fleet's author decides to which host that would be sent.
  if (secret?.type === 'kubernetes.io/service-account-token') {
    throw new GitError(
      'InvalidCredentials',
      `Secret ${namespace}/${name} holds the token of a service account, which is sent nowhere: correct ${field}`,
    );
  }
  if (!secret) {
    throw new GitError('InvalidCredentials', `there is no Secret ${namespace}/${name}: create it, or correct ${field}`);
  }
  if (isShared(secret)) return secret.data ?? {};
  throw new GitError(
    'SecretNotShared',
    `Secret ${namespace}/${name} is not for fleets: correct ${field}, or let them use it: ${shareCommand(namespace, name)}`,
  );
}
