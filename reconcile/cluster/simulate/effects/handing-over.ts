import { issuedSecretName } from '../../../../manifests/build/certificate-names.ts';
import type { CertificateFacts } from '../../../certificates/facts.ts';
import type { HandOver, TrustOrder } from '../../actions.ts';
import type { LeafView, ReadCertificates } from '../../observation.ts';
import { type Effect, type EffectsOf, oneByOne } from '../effect.ts';
import { asWritten } from '../knowledge.ts';
import { onLeaf, readOf } from './certificates.ts';
import { trusting } from './issued-facts.ts';

/** Leaves that others sign. */

export const requestCertificates: EffectsOf<'request-certificates'> = ({ requests }) =>
  oneByOne(
    ...requests.map(({ plan }) =>
      onLeaf(plan.secretName, (leaf, _, { at }) => {
        const { issued } = leaf;
        if (!issued || (issued.certificate?.state === 'ours' && issued.certificate.current)) return leaf;
        const uid = issued.certificate?.state === 'ours' ? issued.certificate.uid : `certificate-${issued.name}`;
        const createdAt = issued.certificate?.state === 'ours' ? issued.certificate.createdAt : at;
        const said = { state: 'issuing', reason: 'NotObserved', message: 'it was not looked at yet' } as const;
        return { ...leaf, issued: { ...issued, certificate: { state: 'ours', uid, current: true, createdAt, said } } };
      }),
    ),
  );

export const handOverCertificates: EffectsOf<'hand-over-certificates'> = (
  { at, trust, leaves, adopt },
  observation,
) => {
  // Read before the first write.
  const bundles = new Map(trust.map((order) => [order.authority, bundleOf(order, readOf(observation))]));
  return oneByOne(
    ...adopt.map(({ name }) => adoptSecret(name, readOf(observation))),
    ...leaves.map((order) => handOver(order, bundles.get(order.plan.authority) ?? [], new Date(at))),
  );
};

function adoptSecret(name: string, { leaves }: ReadCertificates): Effect | undefined {
  const leaf = leaves.find(({ plan }) => issuedSecretName(plan) === name);
  return (
    leaf &&
    onLeaf(leaf.plan.secretName, (found) =>
      found.issued ? { ...found, issued: { ...found.issued, owned: true } } : found,
    )
  );
}

function bundleOf({ authority, fingerprints }: TrustOrder, { leaves }: ReadCertificates): readonly CertificateFacts[] {
  const known = leaves
    .filter(({ plan }) => plan.authority === authority)
    .flatMap(({ facts, issued }) => [...(issued?.facts?.authorities ?? []), ...(facts?.authorities ?? [])]);
  return fingerprints.flatMap((fingerprint) => known.find((one) => one.fingerprint === fingerprint) ?? []);
}

/** Only the very leaf that was judged. */
function handOver({ plan, fingerprint }: HandOver, bundle: readonly CertificateFacts[], handedOverAt: Date): Effect {
  return onLeaf(plan.secretName, (leaf): LeafView => {
    const pair = fingerprint === undefined ? leaf.facts : leaf.issued?.facts;
    if (!pair || (fingerprint !== undefined && pair.fingerprint !== fingerprint)) return leaf;
    const { keyMatches } = pair;
    return asWritten({
      ...leaf,
      state: 'ours',
      facts: { ...pair, ...trusting(bundle), keyMatches },
      defects: [],
      handedOverAt,
    });
  });
}
