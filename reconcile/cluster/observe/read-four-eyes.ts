import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { mostSigners } from '../../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import { askingByUid, asksFourEyes, refusedApprovals, signerOf } from '../../fleet/four-eyes.ts';
import { isMarked, keyOf, ownerOf } from '../../fleet/names.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { approvalsGiven, type RefusedApproval } from '../../objects/approvals.ts';
import type { FourEyes } from '../know/refused-approvals.ts';

/** Fleets as this pass knows them; one is read at most once in it. */
export interface KnownFleets {
  readonly listed: readonly EtcdFleet[];
  /** Those listed that ask for four eyes, by the UIDs of what they applied. */
  readonly asking: ReadonlyMap<string, readonly EtcdFleet[]>;
  /** As it is now: which commit it applies may have changed since it was listed. @throws {KubeError} */
  readonly read: (key: string) => Promise<EtcdFleet | undefined>;
}

export function knownFleets(kube: Kube, listed: readonly EtcdFleet[], signal: AbortSignal): KnownFleets {
  const reads = new Map<string, Promise<EtcdFleet | undefined>>();
  const read = (key: string) => {
    const [namespace, name = ''] = key.split('/');
    const now = reads.get(key) ?? kube.get<EtcdFleet>(resources.fleets, namespace, name, { signal });
    reads.set(key, now);
    return now;
  };
  return { listed, asking: askingByUid(listed), read };
}

const nothing: FourEyes = { refused: [] };

/**
 * Whose approvals of this cluster do not count, by the fleets that applied it. Nothing is read for a cluster that is
 * as asked and bears no approval. A fleet that can't be read is no reason to leave the cluster without a step.
 *
 * @param unread what counts where a fleet can't be read: to a plan all approvals do, to a step none
 * @throws {KubeError} when the time for the step is over
 */
export async function readFourEyes(
  cluster: EtcdCluster,
  { fleets, unread }: { readonly fleets: KnownFleets; readonly unread: 'all' | 'none' },
  signal: AbortSignal,
): Promise<FourEyes> {
  const given = approvalsGiven(cluster);
  if (given.length === 0 && isAsAsked(cluster)) return nothing;
  const applied = fleets.asking.get(cluster.metadata.uid ?? '') ?? [];
  const marked = fleets.listed.filter((fleet) => asksFourEyes(fleet) && isMarked(fleet, cluster));
  const keys = new Set([...applied, ...marked].map(keyOf));
  if (given.length > 0) for (const key of namedBy(cluster, fleets.listed)) keys.add(key);
  const read = await Promise.all(
    [...keys].map(async (key): Promise<FourEyes> => {
      try {
        const fleet = await fleets.read(key);
        return fleet ? judge(cluster, fleet) : nothing;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof KubeError)) throw error;
        return { refused: unread === 'all' ? [] : allRefused(cluster, unreadable(key)) };
      }
    }),
  );
  const signers = read.flatMap((one) => one.signers ?? []);
  return {
    refused: read.flatMap(({ refused }) => refused),
    ...(signers.length > 0 && { signers: [...new Set(signers)].slice(0, mostSigners).sort() }),
    ...(read.some(({ differs }) => differs) && { differs: true }),
  };
}

/** The label proves nothing: a fleet tells the signer only of what its inventory has. */
function judge(cluster: EtcdCluster, fleet: EtcdFleet): FourEyes {
  if (!asksFourEyes(fleet)) return nothing;
  const entry = fleet.status?.inventory?.find(({ uid }) => uid === cluster.metadata.uid);
  if (entry) {
    const { signers: before = [], observedGeneration } = cluster.status ?? {};
    // A commit that asks nothing of this cluster makes its signer no author of what is asked.
    const isNew = cluster.metadata.generation !== observedGeneration;
    const signer = isNew ? signerOf(fleet) : undefined;
    const signers = [...before, ...(signer === undefined ? [] : [signer])];
    const isAsLeft = entry.generation === cluster.metadata.generation;
    const isFull = before.length >= mostSigners;
    const refused = isFull ? allRefused(cluster, tooMany) : refusedApprovals(cluster, fleet, { before });
    return { refused, signers, differs: !isAsLeft };
  }
  if (!isMarked(fleet, cluster)) return nothing;
  return { refused: allRefused(cluster, notApplied(keyOf(fleet))) };
}

type Refusal = Pick<RefusedApproval, 'why' | 'cure'>;

function allRefused(cluster: EtcdCluster, refusal: Refusal): readonly RefusedApproval[] {
  return approvalsGiven(cluster).map((given) => ({ ...given, ...refusal }));
}

const tooMany: Refusal = {
  why: `more than ${mostSigners} signers are authors of what is not done yet`,
  cure: 'let the cluster come to rest as Git asks, then ask for it anew',
};

function isAsAsked({ metadata, status }: EtcdCluster): boolean {
  const isDone = status?.lastDecision?.kind === 'Done' && status.observedGeneration === metadata.generation;
  return isDone && status.approvals === undefined && status.signers === undefined;
}

const removeIt = `remove the label ${labels.fleet}, if that fleet has nothing to do with this cluster`;

function unreadable(key: string): Refusal {
  return {
    why: `EtcdFleet ${key} can't be read, so it is not known whether the author gave it`,
    cure: `let etcd-ratchet read it, or ${removeIt}`,
  };
}

function notApplied(key: string): Refusal {
  return {
    why: `the cluster bears the label of EtcdFleet ${key}, whose inventory does not have it`,
    cure: `wait until that fleet has applied it, or ${removeIt}`,
  };
}

/** As its fleet wrote it, where no list of this pass has that one: its namespace may not be seen now. */
function namedBy(cluster: EtcdCluster, listed: readonly EtcdFleet[]): readonly string[] {
  const key = cluster.metadata.annotations?.[annotations.fleetName];
  if (ownerOf(cluster) === undefined || key === undefined || !/^[a-z0-9-]+\/[a-z0-9.-]+$/.test(key)) return [];
  return listed.some((fleet) => keyOf(fleet) === key) ? [] : [key];
}
