import { GitError } from '../gitops/error.ts';
import { type Kube, type KubeObject, resources } from '../reconcile/kube.ts';

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * The data of a Secret that a fleet names, as it is: base64.
 *
 * @throws {GitError} InvalidCredentials when there is none
 * @throws {KubeError}
 */
export async function readSecret(
  kube: Kube,
  namespace: string,
  name: string,
  field: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const secret = await kube.get<Secret>(resources.secrets, namespace, name, { signal });
  if (secret) return secret.data ?? {};
  throw new GitError('InvalidCredentials', `there is no Secret ${namespace}/${name}: create it, or correct ${field}`);
}
