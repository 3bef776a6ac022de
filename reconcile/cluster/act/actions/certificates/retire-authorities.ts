import { moved } from '../../../know/outcome.ts';
import { ourAuthority, trustOnlyNewest } from '../../requests/authorities.ts';
import { defineAction } from '../define.ts';

/**
 * From now on only the newest CA is trusted. The leaves' Secrets follow, and members are started anew with that, one
 * at a time: etcd reads which CAs it trusts once.
 */
export const retireAuthorities = defineAction('retire-authorities', {
  target: ({ authorities }) => authorities.join(', '),
  *run({ authorities }) {
    for (const authority of authorities) {
      const found = yield* ourAuthority(authority);
      if (!found?.facts) throw moved(`the ${authority} CA has gone since it was looked at`);
      const { servedSince: _, ...record } = found.record;
      yield* trustOnlyNewest({ authority, readAt: found.readAt, record });
    }
  },
});
