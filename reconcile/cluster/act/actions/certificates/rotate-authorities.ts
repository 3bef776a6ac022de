import { moved } from '../../../know/outcome.ts';
import { ourAuthority } from '../../requests/authorities.ts';
import { succeedAuthority } from '../../requests/new-authorities.ts';
import { defineAction } from '../define.ts';

/**
 * A new CA in the place of each, cross-signed by the one before, which stays trusted. Members need no restart for it:
 * the chain that new leaves come with leads to the CA that they know.
 *
 * A CA that is trusted beside another one is in the middle of a rotation, and is left as it is.
 */
export const rotateAuthorities = defineAction('rotate-authorities', {
  target: ({ authorities }) => authorities.join(', '),
  *run({ authorities, request, validity }, cluster) {
    for (const authority of authorities) {
      const found = yield* ourAuthority(authority);
      if (!found?.facts) throw moved(`the ${authority} CA has gone since it was looked at`);
      const { servedSince: _, ...record } = found.record;
      if (found.facts.trust.length > 1 || (request !== undefined && record.rotation === request)) continue;
      yield* succeedAuthority({
        authority,
        cluster: cluster.name,
        readAt: found.readAt,
        record: { ...record, ...(request !== undefined && { rotation: request }) },
        validity,
      });
    }
  },
});
