import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { LeafFacts } from '../../../x509/inspect.ts';
import { authorityFacts, leafFacts } from '../../act/requests/issued-facts.ts';
import type { IssuedView, LeafView, Observation, ReadCertificates } from '../../know/observation.ts';
import type { Effect } from '../effect.ts';
import { asRead, isWritten } from '../knowledge.ts';
import { notAskedSince, refusing, whoRefusesUs } from './handshakes.ts';

/** What cert-manager and kubelet do with certificates. */

/**
 * Members read their leaf at each handshake: they present what their Secret has. With another leaf, or another client
 * certificate, the handshake may end otherwise.
 */
export const presentLeaves: Effect = (observation) => {
  const { certificates } = observation;
  if (certificates.kind !== 'read') return observation;
  const fresh = certificates.leaves.filter(isWritten).map(({ plan }) => plan);
  const ours = fresh.some(({ purpose }) => purpose === 'reconciler');
  const anew = (name: string) => ours || fresh.some(({ purpose, peer }) => purpose === 'server' && peer === name);
  const refuses = whoRefusesUs(observation);
  const slots = observation.slots.map((slot) => {
    if (refuses(slot)) return { ...slot, endpoint: refusing(slot.endpoint) };
    return slot.endpoint.kind === 'unknown' && slot.endpoint.tls !== undefined && anew(slot.name)
      ? { ...slot, endpoint: notAskedSince }
      : slot;
  });
  const asked = slots.every((slot, at) => slot === observation.slots[at]) ? observation : { ...observation, slots };
  return onLeaves(asked, (leaf) => {
    const seen = isWritten(leaf) ? asRead(leaf) : leaf;
    const { plan, facts, served } = seen;
    if (plan.peer === undefined || !facts || served === facts.fingerprint) return seen;
    const pod = observation.slots.find(({ name }) => name === plan.peer)?.pod;
    return pod?.container.state === 'running' ? { ...seen, served: facts.fingerprint } : seen;
  });
};

/** cert-manager answers what it was asked, by the CA that it has answered others with. */
export const issueRequested: Effect = (observation) =>
  onLeaves(observation, (leaf, read) => {
    const { plan, issued } = leaf;
    if (issued?.certificate?.state !== 'ours' || !issued.certificate.current) return leaf;
    const { certificate } = issued;
    if (certificate.said.state !== 'issuing') return leaf;
    const facts = signedFor(leaf, read, observation);
    const said = { state: 'ready', revision: 1, notAfter: facts.notAfter.toISOString() } as const;
    const answered: IssuedView = {
      ...issued,
      certificate: { ...certificate, said },
      secret: 'ours',
      facts,
      defects: [],
    };
    return { ...leaf, plan, issued: answered };
  });

/** And an issuer signs the CA that it was asked to sign. */
export const signAuthority: Effect = (observation) => {
  const { certificates, at, cluster } = observation;
  if (certificates.kind !== 'read') return observation;
  const { client } = certificates.authorities;
  if (client?.facts === undefined || client.signing?.state !== 'pending') return observation;
  const issuer = `CN=the issuer of ${cluster.metadata.namespace}/${cluster.metadata.name}`;
  const notAfter = new Date(at.getTime() + 3650 * days);
  const { cross: _, intermediate: __, ...facts } = client.facts;
  const fingerprint = hashOf(['intermediate', facts.fingerprint, issuer, at.toISOString()]);
  const signed = { ...facts, issuer, notBefore: at, notAfter, fingerprint, der: '' };
  const { uid, createdAt } = client.signing;
  const signing = { state: 'signed', uid, createdAt, chain: [signed] } as const;
  const authorities = { ...certificates.authorities, client: { ...client, signing } };
  return { ...observation, certificates: { ...certificates, authorities } };
};

const days = 86_400_000;

function signedFor({ plan }: LeafView, { leaves }: ReadCertificates, { at, cluster }: Observation): LeafFacts {
  const notBefore = new Date(at.getTime() - 600_000).toISOString();
  const notAfter = new Date(at.getTime() + 90 * days).toISOString();
  const other = leaves.find((one) => one.plan.authority === plan.authority && one.issued?.facts)?.issued?.facts;
  const { metadata } = cluster;
  const issuer = `issuer of ${metadata.namespace}/${metadata.name} ${plan.authority}`;
  const authority = authorityFacts(
    issuer,
    { notBefore, notAfter: new Date(at.getTime() + 3650 * days).toISOString() },
    { trusted: [] },
  );
  const facts = leafFacts(plan, authority, { notBefore, notAfter });
  if (!other) return facts;
  const { trust, authorities, intermediates, chainLength } = other;
  const fingerprint = hashOf(['issued', plan.secretName, trust, notBefore]);
  return { ...facts, issuer: other.issuer, trust, authorities, intermediates, chainLength, fingerprint };
}

function onLeaves(observation: Observation, change: (leaf: LeafView, read: ReadCertificates) => LeafView): Observation {
  const { certificates } = observation;
  if (certificates.kind !== 'read') return observation;
  let read = certificates;
  for (const leaf of certificates.leaves) {
    const changed = change(leaf, read);
    if (changed !== leaf) read = { ...read, leaves: read.leaves.map((one) => (one === leaf ? changed : one)) };
  }
  return read === certificates ? observation : { ...observation, certificates: read };
}
