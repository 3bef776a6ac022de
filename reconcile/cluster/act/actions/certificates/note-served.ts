import { moved } from '../../../know/outcome.ts';
import { ourAuthority, writeAuthorityRecord } from '../../requests/authorities.ts';
import { defineAction } from '../define.ts';

/** Writes down since when every member presents leaves of the new CA. The first time that was written down stays. */
export const noteServed = defineAction('note-served', {
  target: ({ authorities }) => authorities.join(', '),
  *run({ authorities, since }) {
    for (const authority of authorities) {
      const found = yield* ourAuthority(authority);
      if (!found) throw moved(`the ${authority} CA has gone since it was looked at`);
      const { record, readAt } = found;
      if (record.servedSince !== undefined) continue;
      yield* writeAuthorityRecord({ authority, readAt, record: { ...record, servedSince: since } });
    }
  },
});
