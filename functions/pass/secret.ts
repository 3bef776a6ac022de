import { GitError } from '../../gitops/git/error.ts';
import { kubectl } from '../../manifests/render/kubectl.ts';
import { labels } from '../../manifests/render/names.ts';
import { type Kube, type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';

/** A Secret as a fleet names it: credentials of Git or a forge, or what webhooks are verified with. */
export interface FleetSecret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

const shared = 'true';

/** On every Secret that fleets may use. */
export const fleetSecretLabels = { [labels.fleetSecret]: shared } as const;

/**
 * Whether the owner of a Secret shares it with the fleets of its namespace. We may read every Secret by name, also keys
 * of clusters and other software: the author of a fleet must not borrow that right.
 */
export function isShared({ metadata }: FleetSecret): boolean {
  return metadata.labels?.[labels.fleetSecret] === shared;
}

/** What a person runs to share it. */
export function shareCommand(namespace: string, name: string): string {
  return kubectl({ namespace }, `label --overwrite secret ${name} ${labels.fleetSecret}=${shared}`);
}

/**
 * The data of a Secret that a fleet names, in base64. @throws {KubeError}
 * @throws {GitError} InvalidCredentials: there is none, or it is a service account's; SecretNotShared without the label
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

/**
 * An API client that reads each Secret once per pass: fleets mostly name the same one. Only found Secrets are kept, and
 * until then each caller sends its own request, so that one caller's time-out does not fail the others.
 */
export function secretsOnce(kube: Kube): Kube {
  const known = new Map<string, KubeObject>();
  return {
    ...kube,
    get: async <T extends KubeObject>(...[resource, namespace, name, options]: Parameters<Kube['get']>) => {
      if (resource !== resources.secrets || options?.metadataOnly)
        return kube.get<T>(resource, namespace, name, options);
      const key = `${namespace}/${name}`;
      const found = known.get(key) ?? (await kube.get<T>(resource, namespace, name, options));
      if (found) known.set(key, found);
      return found as T | undefined;
    },
  };
}
