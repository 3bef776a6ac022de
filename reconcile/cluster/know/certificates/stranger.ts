import type { Authority } from '../../../../manifests/render/certificate-names.ts';
import type { Certificates, PodView, Slot } from '../observation.ts';
import { hasEnded, isStrangersWord } from './authority.ts';

/** The words that every member must have loaded of this CA, because no chain leads to it from the CA before. */
export function strangersFor(certificates: Certificates, which: Authority): readonly string[] {
  const word = certificates.kind === 'read' ? certificates.authorities[which]?.record?.trust : undefined;
  return word !== undefined && isStrangersWord(word) ? [word] : [];
}

/** What a member must have loaded to accept us; `undefined` as long as there is a chain from the CA before. */
export function wordToAcceptUs(certificates: Certificates, at: Date): string | undefined {
  if (certificates.kind !== 'read') return undefined;
  const { facts, record } = certificates.authorities.client ?? {};
  const own = certificates.leaves.find(({ plan }) => plan.purpose === 'reconciler');
  if (!facts || own?.facts?.issuer !== facts.subject) return undefined;
  return facts.cross && !hasEnded(facts.cross, at) ? undefined : record?.trust;
}

export function hasLoaded(pod: PodView | undefined, word: string): boolean {
  return pod?.trust?.split('.').includes(word) ?? false;
}

/** It has said so itself. */
export function isRefusing({ endpoint }: Slot): boolean {
  return endpoint.kind === 'unknown' && endpoint.tls === 'ClientCertificateRefused';
}
