import { type Authority, authoritySecretName } from '../../../../manifests/build/certificate-names.ts';
import { hashOf } from '../../../../manifests/build/inputs-hash.ts';
import type { ActionOf, LeafOrder } from '../../actions.ts';
import { hasEnded, strangersWord } from '../../certificates/authority.ts';
import type { Validity } from '../../certificates/validity.ts';
import type { AuthorityView, LeafView, Observation, ReadCertificates } from '../../observation.ts';
import { type Effect, type EffectsOf, oneByOne } from '../effect.ts';
import { asWritten } from '../knowledge.ts';
import { authorityFacts, leafFacts, trusting } from './issued-facts.ts';

/** The CAs and leaves that we sign. */

export const makeAuthorities: EffectsOf<'make-authorities'> = (action, observation) =>
  oneByOne(
    ...action.authorities
      .filter(({ authority }) => !isThere(observation, authority, action.token))
      .map((order) => make(order, action)),
    ...action.leaves.map((order) => issue(order, action.validity)),
  );

function isThere({ certificates, at }: Observation, authority: Authority, token: string): boolean {
  const view = certificates.kind === 'read' ? certificates.authorities[authority] : undefined;
  return view?.facts !== undefined && !hasEnded(view.facts, at) && view.record?.token === token;
}

function make(
  { authority, trustedIn }: ActionOf<'make-authorities'>['authorities'][number],
  { token, request, validity }: ActionOf<'make-authorities'>,
): Effect {
  return onAuthority(authority, (view, observation) => {
    if (view.state === 'foreign') return view;
    const { cluster, slots, at } = observation;
    const former = readOf(observation)
      .leaves.filter(({ plan }) => trustedIn.includes(plan.secretName))
      .flatMap(({ facts }) => facts?.authorities ?? [])
      .filter((one) => one.isAuthority && !hasEnded(one, at));
    const facts = authorityFacts(`${cluster.metadata.name} ${authority} CA`, ofAuthorities(validity), {
      trusted: former,
    });
    const word = wordFor(facts.trust);
    const trust = trustedIn.length > 0 ? word : slots.some(({ pod }) => pod) ? strangersWord(word) : undefined;
    return {
      name: authoritySecretName(cluster.metadata.name, authority),
      state: 'ours',
      uid: view.uid ?? `authority-${authority}-${token}`,
      record: { token, ...(trust !== undefined && { trust }), ...(request !== undefined && { rotation: request }) },
      facts,
    };
  });
}

export const issueCertificates: EffectsOf<'issue-certificates'> = ({ leaves, validity }) =>
  oneByOne(...leaves.map((order) => issue(order, validity)));

function issue({ plan, remedy }: LeafOrder, validity: Validity): Effect {
  return onLeaf(plan.secretName, (leaf, read) => {
    const authority = read.authorities[plan.authority]?.facts;
    if (!authority || leaf.state === 'foreign' || leaf.state === 'leftover') return leaf;
    const { trust, authorities } = authority;
    const facts =
      remedy === 'bundle' && leaf.facts
        ? { ...leaf.facts, trust, authorities }
        : leafFacts(plan, authority, { notBefore: validity.notBefore, notAfter: validity.leafNotAfter });
    return asWritten({ ...leaf, plan, state: 'ours', facts, defects: [] });
  });
}

export const rotateAuthorities: EffectsOf<'rotate-authorities'> = ({ authorities, request, validity }, observation) =>
  oneByOne(
    ...authorities.map((authority) =>
      mayRotate(readOf(observation).authorities[authority], request)
        ? onAuthority(authority, (view, { cluster }) => {
            const { facts: previous, record } = view;
            if (!previous || !record || !mayRotate(view, request)) return view;
            const { servedSince: _, ...kept } = record;
            const facts = authorityFacts(`${cluster.metadata.name} ${authority} CA`, ofAuthorities(validity), {
              previous,
              trusted: previous.authorities,
            });
            return { ...view, facts, record: { ...kept, ...(request !== undefined && { rotation: request }) } };
          })
        : undefined,
    ),
  );

/** One that is trusted beside another already is in the middle of it. */
function mayRotate(view: AuthorityView | undefined, request: string | undefined): boolean {
  return view?.facts?.trust.length === 1 && (request === undefined || view.record?.rotation !== request);
}

export const noteServed: EffectsOf<'note-served'> = ({ authorities, since }, observation) =>
  oneByOne(
    ...authorities.map((authority) =>
      readOf(observation).authorities[authority]?.record?.servedSince === undefined
        ? onAuthority(authority, (view) =>
            view.record && view.record.servedSince === undefined
              ? { ...view, record: { ...view.record, servedSince: since } }
              : view,
          )
        : undefined,
    ),
  );

export const retireAuthorities: EffectsOf<'retire-authorities'> = ({ authorities }) =>
  oneByOne(
    ...authorities.map((authority) =>
      onAuthority(authority, (view) => {
        if (!view.facts || !view.record) return view;
        const { servedSince: _, ...kept } = view.record;
        const own = view.facts.authorities.filter(({ fingerprint }) => fingerprint === view.facts?.fingerprint);
        const facts = { ...view.facts, ...trusting(own) };
        return { ...view, facts, record: { ...kept, trust: wordFor(facts.trust) } };
      }),
    ),
  );

export const deleteAuthorities: EffectsOf<'delete-authorities'> = ({ secrets }) =>
  oneByOne(
    ...secrets.map(({ name, uid }): Effect => {
      const gone = (which: Authority) =>
        onAuthority(which, (view) => (view.name === name && view.uid === uid ? { name, state: 'missing' } : view));
      return (observation) => gone('client')(gone('peer')(observation));
    }),
  );

function ofAuthorities({ notBefore, authorityNotAfter }: Validity) {
  return { notBefore, notAfter: authorityNotAfter };
}

function wordFor(trust: readonly string[]): string {
  return hashOf(trust).slice(0, 12);
}

const nothingRead: ReadCertificates = { kind: 'read', authorities: {}, leaves: [] };

export function readOf({ certificates }: Observation): ReadCertificates {
  return certificates.kind === 'read' ? certificates : nothingRead;
}

function onAuthority(
  authority: Authority,
  change: (view: AuthorityView, observation: Observation) => AuthorityView,
): Effect {
  return (observation) => {
    const { certificates } = observation;
    const view = certificates.kind === 'read' ? certificates.authorities[authority] : undefined;
    if (certificates.kind !== 'read' || !view) return observation;
    const changed = change(view, observation);
    if (changed === view) return observation;
    const authorities = { ...certificates.authorities, [authority]: changed };
    return { ...observation, certificates: { ...certificates, authorities } };
  };
}

export function onLeaf(
  secretName: string,
  change: (leaf: LeafView, read: ReadCertificates, observation: Observation) => LeafView,
): Effect {
  return (observation) => {
    const { certificates } = observation;
    if (certificates.kind !== 'read') return observation;
    const leaf = certificates.leaves.find(({ plan }) => plan.secretName === secretName);
    if (!leaf) return observation;
    const changed = change(leaf, certificates, observation);
    if (changed === leaf) return observation;
    const leaves = certificates.leaves.map((other) => (other === leaf ? changed : other));
    return { ...observation, certificates: { ...certificates, leaves } };
  };
}
