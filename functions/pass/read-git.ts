import { GitError } from '../../gitops/git/error.ts';
import type { Resolution } from '../../gitops/git/resolve.ts';
import { formatRevision } from '../../gitops/git/revision.ts';
import { validateSource } from '../../gitops/git/source.ts';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import type { OtherObject } from '../../reconcile/fleet/objects.ts';
import type { Reading } from '../../reconcile/fleet/reading.ts';
import { isUnchanged } from '../../reconcile/fleet/unchanged.ts';
import { type Kube, KubeError } from '../../reconcile/interfaces/kube.ts';
import { fleetSource } from './fleet-git.ts';
import type { SharedGit } from './shared-git.ts';
import { verificationOf } from './verification.ts';

/**
 * What a fleet's repository says now: one request if nothing moved, one more to fetch; none if another fleet has asked.
 * Never throws for what Git, the Secret or a person did wrong: that is an answer, too.
 * @param clusters and `others` listed before this call: what is applied later is fenced against newer changes
 */
export async function readGit(
  fleet: EtcdFleet,
  clusters: readonly EtcdCluster[],
  others: readonly OtherObject[],
  { kube, signal, git }: { readonly kube: Kube; readonly signal: AbortSignal; readonly git: SharedGit },
): Promise<Reading> {
  const { url, ref, path = fleetDefaults.path } = fleet.spec.git;
  const [wrong] = validateSource({ url, ref, path });
  if (wrong) return { kind: 'failed', reason: 'InvalidSource', message: `spec.git.${wrong}`, retryable: false };

  let revision: Resolution | undefined;
  try {
    const repository = git.join(await fleetSource(fleet, { kube, signal }));
    revision = await repository.resolve();
    const name = formatRevision({ ref, sha: revision.sha });
    if (isUnchanged(fleet, name, clusters, others)) return { kind: 'unchanged', revision: name };
    const verification = await verificationOf(fleet, revision, { kube, signal });
    return { kind: 'tree', revision: name, tree: await repository.read(revision, fleet, verification) };
  } catch (error) {
    const at = revision ? { revision: formatRevision({ ref, sha: revision.sha }) } : {};
    if (error instanceof GitError) {
      return {
        kind: 'failed',
        ...at,
        reason: error.reason,
        message: error.message,
        retryable: error.class === 'retryable',
      };
    }
    if (error instanceof KubeError) {
      return {
        kind: 'failed',
        reason: 'SecretUnreadable',
        message: error.message,
        retryable: error.class !== 'terminal',
      };
    }
    if (signal.aborted) {
      const message = `${url} could not be read in the time there was`;
      return { kind: 'failed', ...at, reason: 'Timeout', message, retryable: true };
    }
    throw error;
  }
}
