import { each, type Program } from '../../../../requests/program.ts';
import type { CertificateFacts } from '../../../../x509/facts.ts';
import { hasEnded } from '../../../know/certificates/authority.ts';
import { skew } from '../../../know/certificates/validity.ts';
import { hasMemberPods, ourAuthority } from '../../requests/authorities.ts';
import { readLeaf } from '../../requests/leaves.ts';
import { makeAuthority } from '../../requests/new-authorities.ts';
import { defineAction } from '../define.ts';
import { issueLeaves } from './issue-leaves.ts';

/**
 * Makes CAs that are missing, and what they sign.
 *
 * Where an earlier one was lost while members trusted it, it stays trusted beside the new one: it is read from their
 * own Secrets (`trustedIn`). Where those were lost, too, while members run, the CA is called a stranger to them. A CA
 * that is there by now, sound and of this cluster, stays.
 */
export const makeAuthorities = defineAction('make-authorities', {
  target: ({ authorities }) => authorities.map(({ authority }) => authority).join(', '),
  *run({ authorities, token, request, leaves, validity }, cluster) {
    const someLoadedAnother = yield* hasMemberPods({});
    const at = new Date(new Date(validity.notBefore).getTime() + skew);
    yield* each(authorities, function* ({ authority, trustedIn }) {
      const found = yield* ourAuthority(authority);
      if (found?.facts && !hasEnded(found.facts, at) && found.record.token === token) return;
      const trusted = yield* trustedSoFar(trustedIn, at);
      const word = trustedIn.length > 0 ? 'known' : someLoadedAnother ? 'stranger' : undefined;
      yield* makeAuthority({
        authority,
        cluster: cluster.name,
        ...(found && { readAt: found.readAt }),
        record: { token, ...(request !== undefined && { rotation: request }) },
        trusted,
        ...(word && { word }),
        validity,
      });
    });
    yield* issueLeaves(leaves, validity, cluster);
  },
});

/**
 * What these Secrets say, each CA once. A CA that has ended proves nothing to anyone, and what is no CA spoils the
 * whole bundle.
 */
function* trustedSoFar(secretNames: readonly string[], at: Date): Program<readonly CertificateFacts[]> {
  const read = yield* each(secretNames, (name) => readLeaf({ name }));
  const useful = read
    .flatMap((one) => (one && !one.foreign ? (one.facts?.authorities ?? []) : []))
    .filter((authority) => authority.isAuthority && !hasEnded(authority, at));
  return [...new Map(useful.map((one) => [one.fingerprint, one])).values()];
}
