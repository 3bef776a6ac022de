import { moved } from '../../../know/outcome.ts';
import { ourAuthority } from '../../requests/authorities.ts';
import { dropSigning, readSigning, takeSigned } from '../../requests/intermediates.ts';
import { defineAction } from '../define.ts';

/**
 * Puts what the issuer signed beside the CA, from where it goes behind each leaf that members show to clients.
 *
 * Guards the trust: only the very certificate that was judged is taken, and of no other owner's request.
 */
export const takeIntermediate = defineAction('take-intermediate', {
  target: ({ order }) => order.issuer,
  *run({ order, fingerprint, at }) {
    const found = yield* ourAuthority('client');
    if (!found?.facts) throw moved('the client CA has gone since it was looked at');
    const asked = { order, authority: found.readAt, at };
    const read = yield* readSigning(asked);
    const signing = read?.signing;
    const isJudged = signing?.state === 'signed' && signing.flaw === undefined;
    if (!read || !isJudged || signing.chain[0]?.fingerprint !== fingerprint) {
      throw moved(`CertificateRequest ${order.name} has changed since it was looked at`);
    }
    yield* takeSigned({ ...asked, signed: read.readAt });
    yield* dropSigning({ order, uid: signing.uid });
  },
});
