import { each, type Program } from '../../../../requests/program.ts';
import type { CertificateFacts } from '../../../../x509/facts.ts';
import type { HandOver, TrustOrder } from '../../../know/actions/certificates.ts';
import { moved } from '../../../know/outcome.ts';
import { adoptIssued, readIssued } from '../../requests/cert-manager.ts';
import { handOverLeaf, type LeafRead, ownerOf, ownLeaf, readLeaf } from '../../requests/leaves.ts';
import { defineAction, type Leased } from '../define.ts';

/**
 * Gives members, applications and ourselves what cert-manager issued, or a person provided: each Secret is written
 * with one request, whole.
 *
 * Guards the trust: only the very leaf that was judged is handed over; one that was renewed since is judged first.
 */
export const handOverCertificates = defineAction('hand-over-certificates', {
  target: ({ leaves, adopt }) =>
    [...leaves.map(({ plan }) => plan.secretName), ...adopt.map(({ name }) => name)].join(', '),
  *run({ at, trust, leaves, adopt }, cluster) {
    for (const { name, certificateUid } of adopt) yield* adoptSecret(name, certificateUid);
    const bundles = yield* each(trust, bundleOf);
    for (const order of leaves) {
      const trusted = bundles[trust.findIndex(({ authority }) => authority === order.plan.authority)];
      yield* handOver(order, { trusted: trusted ?? [], at }, cluster);
    }
  },
});

function* adoptSecret(name: string, certificateUid: string): Program {
  const found = yield* readIssued({ name, certificateUid });
  if (found?.state !== 'ours' || found.owned) return;
  yield* adoptIssued({ readAt: found.readAt, certificateUid });
}

/** These CAs in this order, out of whichever Secret has them. */
function* bundleOf({ fingerprints, sources }: TrustOrder): Program<readonly CertificateFacts[]> {
  const read = yield* each(sources, (name) => readLeaf({ name }));
  const known = new Map(
    read.flatMap((one) => (one?.facts?.authorities ?? []).map((facts) => [facts.fingerprint, facts])),
  );
  return fingerprints.map((fingerprint) => {
    const facts = known.get(fingerprint);
    if (!facts) throw moved('a CA that was to be trusted has gone since it was looked at');
    return facts;
  });
}

function* handOver(
  order: HandOver,
  { trusted, at }: { readonly trusted: readonly CertificateFacts[]; readonly at: string },
  cluster: Leased,
): Program {
  const { plan, fingerprint, source = plan.secretName } = order;
  const owner = yield* ownerOf(order, cluster);
  const found = yield* ownLeaf(plan, owner);
  const pair = fingerprint === undefined ? found : yield* judgedLeaf(source, fingerprint);
  if (!pair?.facts) throw moved(`the certificate in Secret ${plan.secretName} has gone since it was looked at`);
  yield* handOverLeaf({ plan, owner, ...(found && { readAt: found.readAt }), pair: pair.readAt, trusted, at });
}

function* judgedLeaf(source: string, fingerprint: string): Program<LeafRead> {
  const found = yield* readLeaf({ name: source });
  if (found?.facts?.keyMatches && found.facts.fingerprint === fingerprint) return found;
  throw moved(`Secret ${source} was written anew since it was looked at`);
}
