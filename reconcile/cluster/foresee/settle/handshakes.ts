import { hasLoaded, strangersFor, wordToAcceptUs } from '../../know/certificates/stranger.ts';
import type { Endpoint, Membership, Observation, Slot } from '../../know/observation.ts';
import { isOfAnotherIssuer, rememberingTheList, silenced } from '../knowledge.ts';

/** What TLS lets through. etcd loads its CAs when it starts, and keeps connections that it has. */

/**
 * Groups of members that can connect with each other. Those that have not loaded a peer CA without a chain from the one
 * before keep the connections between them, and make none to those that have.
 */
export function whoConnect<M extends { readonly slot: Slot }>(
  { certificates }: Observation,
  running: readonly M[],
): readonly (readonly M[])[] {
  const words = strangersFor(certificates, 'peer');
  const isTold = ({ slot: { pod } }: M) => words.every((word) => hasLoaded(pod, word));
  return words.length === 0 ? [running] : [running.filter(isTold), running.filter((one) => !isTold(one))];
}

/**
 * Our client certificate is of another CA now, to which no chain leads from the one before: a member that has not
 * loaded it refuses us, however well it serves others.
 */
export function whoRefusesUs({ certificates, at }: Observation): (slot: Slot) => boolean {
  const own = certificates.kind === 'read' && certificates.leaves.find(({ plan }) => plan.purpose === 'reconciler');
  const word = own && isOfAnotherIssuer(own) ? wordToAcceptUs(certificates, at) : undefined;
  return ({ pod }) => word !== undefined && pod?.container.state === 'running' && !pod.leaving && !hasLoaded(pod, word);
}

export const notAskedSince = { kind: 'unknown', cause: 'it was not asked since' } as const satisfies Endpoint;

const refused = 'it refuses the client certificate of etcd-ratchet';

export function refusing(endpoint: Endpoint): Endpoint {
  return silenced(endpoint, refused, 'ClientCertificateRefused');
}

/** None of those that serve tells us of it. */
export function unheard(observation: Observation): Observation {
  const { membership } = observation;
  if (membership.kind === 'unknown') return observation;
  const unknown: Membership = { kind: 'unknown', cause: refused, last: membership.members };
  return rememberingTheList({ ...observation, membership: unknown }, membership);
}
