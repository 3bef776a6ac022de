import type { CommitStatus } from '../gitops/statuses/forge.ts';
import type { EtcdFleet } from '../manifests/api/etcd-fleet.ts';
import type { ForgeOutcome } from '../reconcile/fleet/status.ts';
import type { WantedStatus } from '../reconcile/fleet/wanted-statuses.ts';
import { type Kube, KubeError } from '../reconcile/kube.ts';
import { readSecret } from './secret.ts';

/**
 * Tells the forge what changed since the last time, if anything did; the Secret is read only then.
 *
 * Never throws because of the forge, its Secret or the way there: a status is news about the work, not the work.
 *
 * @returns `undefined` when the fleet names no forge
 */
export async function sendStatuses(
  fleet: EtcdFleet,
  wanted: readonly WantedStatus[],
  { kube, signal, deadline }: { readonly kube: Kube; readonly signal: AbortSignal; readonly deadline: number },
): Promise<ForgeOutcome | undefined> {
  const { forge, git } = fleet.spec;
  if (!forge) return undefined;
  const before = fleet.status?.commitStatuses ?? [];
  if (wanted.every((status) => before.some((sent) => isSame(status, sent)))) return { remembered: before };

  const [{ openForge, validateForge }, { sendChanged }, { ForgeError }, { tokenFromSecret }, { GitError }] =
    await Promise.all([
      import('../gitops/statuses/forges.ts'),
      import('../gitops/statuses/report.ts'),
      import('../gitops/statuses/forge.ts'),
      import('../gitops/credentials.ts'),
      import('../gitops/error.ts'),
    ]);
  const { type, apiUrl } = forge;
  const [wrong] = validateForge({ type, ...(apiUrl && { apiUrl }) }, git.url);
  if (wrong) return { remembered: before, failure: { reason: 'InvalidForge', message: wrong } };
  try {
    const data = await readSecret(
      kube,
      fleet.metadata.namespace ?? '',
      forge.secretName,
      'spec.forge.secretName',
      signal,
    );
    const access = { gitUrl: git.url, token: tokenFromSecret(data), ...(apiUrl && { apiUrl }), ...authority(data) };
    const { sent, failure } = await sendChanged(openForge(type, access), wanted, before as readonly CommitStatus[], {
      signal,
      deadline,
    });
    return { remembered: sent, ...(failure && { failure }) };
  } catch (error) {
    if (error instanceof KubeError) return failed(before, 'SecretUnreadable', error.message);
    if (error instanceof GitError || error instanceof ForgeError) return failed(before, error.reason, error.message);
    throw error;
  }
}

function authority(data: Readonly<Record<string, string>>): { caBundle?: string } {
  const encoded = data['ca.crt'];
  return encoded === undefined ? {} : { caBundle: Buffer.from(encoded, 'base64').toString() };
}

function failed(remembered: ForgeOutcome['remembered'], reason: string, message: string): ForgeOutcome {
  return { remembered, failure: { reason, message } };
}

function isSame(wanted: WantedStatus, sent: ForgeOutcome['remembered'][number]): boolean {
  return (
    wanted.sha === sent.sha &&
    wanted.context === sent.context &&
    wanted.state === sent.state &&
    wanted.description === sent.description &&
    wanted.targetUrl === sent.targetUrl
  );
}
