import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { certificateState } from '../../../../manifests/render/cert-manager-state.ts';
import { issuedSecretName, type LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import { annotations } from '../../../../manifests/render/names.ts';
import { wantsReconcile } from '../../../../manifests/render/reconcile-request.ts';
import { conditionOf, isTrue } from '../../../objects/conditions.ts';
import { canBeRead } from '../../../reasons/reasons.ts';
import { looksInOne } from '../../at-rest.ts';
import type { Slot } from '../observation.ts';
import { asksForWhatIsWanted, issuanceWord } from './issued.ts';
import type { Requested } from './requested.ts';
import { areToBeTold, awaitsNames } from './wanted.ts';

/**
 * Whether this step reads every certificate of the cluster, which costs one GET per Secret.
 *
 * Secrets are read by name and never listed, so the right to list all of them is not needed. A cluster at rest
 * costs two reads: ours, and one other by turns.
 */
export function callsForAll(cluster: EtcdCluster, slots: readonly Slot[], at: Date): boolean {
  const { metadata, status } = cluster;
  const known = status?.certificates;
  if (!known || metadata.deletionTimestamp !== undefined) return true;
  if (status.observedGeneration !== metadata.generation || wantsReconcile(cluster)) return true;
  // No member answers: our certificate, or the CAs that we trust, may be the cause.
  if (!isTrue(status, 'CertificatesReady') || !canBeRead(conditionOf(status, 'Available'))) return true;
  // Looks were skipped: their turns are made up for.
  if (at >= new Date(known.renewAfter) || looksInOne(cluster, at) > 1) return true;
  // An approval is asked for, and acted on, by what all leaves say; so is the first restart.
  if (awaitsNames(cluster, slots) || areToBeTold(cluster, slots)) return true;
  const request = rotationAskedFor(cluster);
  if (request !== undefined && request !== known.rotation) return true;
  // A member that is to join needs leaves: they are signed in the step that records it.
  if (slots.filter(({ peer }) => peer?.current).length < cluster.spec.replicas) return true;
  const trusts = new Set(slots.flatMap(({ peer }) => (peer?.current ? [peer.inputs.tls.trust] : [])));
  return trusts.size > 1 || slots.some(isUnsettled);
}

/**
 * Whether cert-manager gives a reason to read all, as far as its listed Certificates tell: one is missing, changed, not
 * Ready, or was issued since all was last well.
 */
export function certManagerCallsForAll(
  place: { readonly cluster: EtcdCluster; readonly slots: readonly Slot[] },
  plans: readonly LeafPlan[],
  requested: Requested,
): boolean {
  if (requested.kind !== 'known') return requested.kind === 'unknown';
  const found = plans.map((plan) => {
    const certificate = requested.items.find(({ metadata }) => metadata.name === issuedSecretName(plan));
    return certificate && asksForWhatIsWanted(place, plan, certificate) ? certificate : undefined;
  });
  const issuances = found.flatMap((certificate) => {
    const said = certificate && certificateState(certificate);
    return said?.state === 'ready' && !said.renewalFailed ? [{ name: certificate?.metadata.name ?? '', said }] : [];
  });
  return issuances.length < plans.length || issuanceWord(issuances) !== place.cluster.status?.certificates?.issued;
}

/** By a person or a script: any new text requests new CAs. */
export function rotationAskedFor({ metadata }: EtcdCluster): string | undefined {
  return metadata.annotations?.[annotations.rotateCertificates]?.slice(0, 253);
}

function isUnsettled({ peer, statefulSet, pod }: Slot): boolean {
  if (!peer?.current) return true;
  return !statefulSet || !pod?.ready || pod.upToDate !== 'yes' || pod.leaving || pod.trust !== peer.inputs.tls.trust;
}

/**
 * By turns, without remembering whose turn it is. Looks come at regular intervals, so the seconds alone could name the
 * same one again and again; multiples of the golden ratio spread evenly for any interval.
 */
export function itsTurn<T>(all: readonly T[], at: Date): T | undefined {
  const seconds = Math.floor(at.getTime() / 1000);
  return all[Math.floor(((seconds * goldenRatio) % 1) * all.length)];
}

const goldenRatio = (Math.sqrt(5) - 1) / 2;
