import { GitError } from '../../gitops/git/error.ts';
import type { Resolution } from '../../gitops/git/resolve.ts';
import type { Verification } from '../../gitops/signatures/verification.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { lastVerified } from '../../reconcile/fleet/verified.ts';
import { type Kube, KubeError, type KubeObject, resources } from '../../reconcile/interfaces/kube.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/**
 * The signatures that the fleet asks for, with the keys that it trusts now; `undefined`: none.
 * @throws {GitError} TrustedKeysUnusable, TrustedKeysUnreadable
 */
export async function verificationOf(
  fleet: EtcdFleet,
  { fullRef, tag }: Pick<Resolution, 'fullRef' | 'tag'>,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<Verification | undefined> {
  const { verify } = fleet.spec.git;
  if (!verify) return undefined;
  const { mode = fleetDefaults.verifyMode, configMapName } = verify;
  const since = mode === 'HeadAndMerges' ? lastVerified(fleet) : undefined;
  const name = /^refs\/tags\/(?<name>.+)$/.exec(fullRef ?? '')?.groups?.name;
  return {
    mode,
    configMap: configMapName,
    keys: await keysIn(fleet, configMapName, { kube, signal }),
    ...(since !== undefined && { since }),
    ...(name !== undefined && { tag: { name, ...(tag !== undefined && { sha: tag }) } }),
  };
}

async function keysIn(
  { metadata: { namespace = '' } }: EtcdFleet,
  name: string,
  { kube, signal }: { readonly kube: Kube; readonly signal: AbortSignal },
): Promise<Verification['keys']> {
  const called = `ConfigMap ${namespace}/${name} of spec.git.verify.configMapName`;
  const found = await kube.get<ConfigMap>(resources.configMaps, namespace, name, { signal }).catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
    const reason = error.class === 'terminal' ? 'TrustedKeysUnusable' : 'TrustedKeysUnreadable';
    throw new GitError(reason, `${called} can't be read: ${error.message}`);
  });
  if (!found)
    throw new GitError('TrustedKeysUnusable', `there is no ${called}: create it with the keys of those who sign`);
  const [binary] = Object.keys(found.binaryData ?? {});
  if (binary !== undefined)
    throw new GitError('TrustedKeysUnusable', `${called} has binary data: export OpenPGP keys with --armor`);
  return found.data ?? {};
}
