import { authorityRecordOf, authoritySecret } from '../../../manifests/build/certificate-secret.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { liveAuthority, writeSecret } from './certificate-secrets.ts';
import type { ActContext } from './context.ts';

/** Writes down since when everybody presents leaves of the new CA. Whoever did so first is right. */
export async function noteServed({ authorities, since }: ActionOf<'note-served'>, context: ActContext): Promise<void> {
  for (const authority of authorities) {
    const found = await liveAuthority(context, authority);
    if (!found) throw moved(`the ${authority} CA has gone since it was looked at`);
    const record = authorityRecordOf(found);
    if (record.servedSince !== undefined) continue;
    const wanted = authoritySecret(authority, context.cluster, { ...record, servedSince: since }, found.data ?? {});
    await writeSecret(context, wanted, found);
  }
}
