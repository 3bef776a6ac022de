import type { Forge } from '../../gitops/forges/forge.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { type Kube, KubeError } from '../../reconcile/interfaces/kube.ts';
import { networkFrom } from '../environment.ts';
import { readSecret } from './secret.ts';

/** What of a fleet says where its forge is. */
export interface FleetOfForge {
  readonly metadata: { readonly namespace?: string };
  readonly spec: { readonly forge?: EtcdFleet['spec']['forge']; readonly git: { readonly url: string } };
}

interface ForgeOptions {
  readonly kube: Kube;
  readonly signal: AbortSignal;
  /** The same forge for the same access, which holds credentials. */
  readonly shared?: ((access: string, forge: Forge) => Forge) | undefined;
}

/**
 * Opens the forge that a fleet names, with its Secret; `undefined` where the fleet names none. Loaded only when needed.
 * Never throws for what a person or the API server did wrong: a forge hears news about the work, it is not the work.
 */
export async function openFleetForge(
  { spec: { forge, git }, metadata }: FleetOfForge,
  { kube, signal, shared = (_, one) => one }: ForgeOptions,
): Promise<FleetForge | undefined> {
  if (!forge) return undefined;
  const [{ accessFromSecret, apiAddressOf, openForge, validateForge }, { ForgeError }, { GitError }, egress] =
    await Promise.all([
      import('../../gitops/forges/forges.ts'),
      import('../../gitops/forges/error.ts'),
      import('../../gitops/git/error.ts'),
      import('../../manifests/egress/egress.ts'),
    ]);
  const { type, apiURL, secretName } = forge;
  const [wrong] = validateForge({ type, ...(apiURL && { apiURL }) }, git.url);
  if (wrong) return failed('InvalidForge', wrong);
  const network = networkFrom(process.env);
  try {
    // Before the Secret is read: it goes nowhere else.
    const api = new URL(apiAddressOf(type, git.url, apiURL));
    const refused = egress.refusalOf(api, true, network.egress ?? egress.strictEgress);
    if (refused) return failed(refused.reason, `${whereIs(api, git.url, apiURL)}${refused.message}`);
    const data = await readSecret(kube, metadata.namespace ?? '', secretName, 'spec.forge.secretName', signal);
    const access = {
      gitUrl: git.url,
      ...accessFromSecret(type, data),
      ...(apiURL && { apiURL }),
      network,
    };
    const { network: _, ...theirs } = access;
    return { kind: 'open', forge: shared(JSON.stringify([type, theirs]), openForge(type, access)) };
  } catch (error) {
    if (error instanceof KubeError) return failed('SecretUnreadable', error.message);
    if (error instanceof GitError || error instanceof ForgeError) return failed(error.reason, error.message);
    throw error;
  }
}

/** The fleet says nothing of a host that follows from the repository's. */
function whereIs({ origin }: URL, gitUrl: string, apiURL: string | undefined): string {
  const { origin: git } = new URL(gitUrl);
  return apiURL || git === origin ? '' : `the API of ${git} is at ${origin}: `;
}

export type FleetForge = { readonly kind: 'open'; readonly forge: Forge } | FailedForge;

interface FailedForge {
  readonly kind: 'failed';
  /** Static CamelCase. */
  readonly reason: string;
  readonly message: string;
}

function failed(reason: string, message: string): FailedForge {
  return { kind: 'failed', reason, message };
}
