import { moved } from '../../../know/outcome.ts';
import { ourAuthority } from '../../requests/authorities.ts';
import { dropSigning, orderSigning, readSigning } from '../../requests/intermediates.ts';
import { defineAction } from '../define.ts';

/**
 * Asks an issuer of cert-manager to sign the client CA as well. A request that was refused is never tried again by
 * cert-manager: it is deleted first.
 */
export const requestIntermediate = defineAction('request-intermediate', {
  target: ({ order }) => order.issuer,
  *run({ order, instead, at }) {
    const found = yield* ourAuthority('client');
    if (!found?.facts) throw moved('the client CA has gone since it was looked at');
    const asked = { order, authority: found.readAt, at };
    const before = yield* readSigning(asked);
    if (before && instead === undefined) return;
    if (instead !== undefined) yield* dropSigning({ order, uid: instead });
    yield* orderSigning(asked);
  },
});
