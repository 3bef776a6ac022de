import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { Observation, ReadCertificates, Slot } from '../observation.ts';
import { sameSet, trustOf } from './due.ts';

/**
 * Which CAs members should have loaded, as one word: etcd reads them only when it starts, so another word means another
 * template. `undefined` as long as there was only one set of CAs of ours.
 */
export function effectiveTrust({
  certificates,
  slots,
}: Pick<Observation, 'certificates' | 'slots'>): string | undefined {
  const present = slots.find(({ peer }) => peer?.current)?.peer?.inputs.tls.trust;
  if (certificates.kind !== 'read') return present;
  if (Object.keys(certificates.authorities).length > 0) {
    // A lost CA says nothing: until it is recreated, no member restarts.
    const sound = Object.values(certificates.authorities).every(({ facts, state }) => facts && state === 'ours');
    return sound ? trustOf(certificates) : present;
  }
  return bundledTrust(certificates) ?? present;
}

/** The CAs that all members' Secrets agree on; `undefined` when they differ: half of them may be written already. */
export function bundledTrust({ leaves }: ReadCertificates): string | undefined {
  const members = leaves.filter(({ plan }) => plan.peer !== undefined);
  const bundles = (['peer', 'server'] as const).map((purpose) => {
    const held = members.filter(({ plan }) => plan.purpose === purpose).map(({ facts }) => facts?.trust);
    const [first] = held;
    return first && held.every((trust) => trust && sameSet(trust, first)) ? first : undefined;
  });
  if (members.length === 0 || bundles.some((bundle) => bundle === undefined)) return undefined;
  return hashOf(bundles).slice(0, 12);
}

/** Whether every member runs with the CAs that it should have loaded. */
export function allHaveLoaded(slots: readonly Slot[]): boolean {
  return slots.every(({ peer, pod }) => !peer?.current || pod?.trust === peer.inputs.tls.trust);
}
