import { authorityRecordOf, authoritySecret } from '../../../manifests/build/certificate-secret.ts';
import { authorityData, authorityOf } from '../../certificates/secret-data.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { liveAuthority, writeSecret } from './certificate-secrets.ts';
import type { ActContext } from './context.ts';
import { trustWord } from './make-authorities.ts';

/**
 * From now on only the newest CA is trusted. The leaves' Secrets follow, and members are started anew with that, one at a time:
 * etcd reads which CAs it trusts once.
 *
 * The cross certificate stays: a member that was not yet started anew follows it to the CA that it knows.
 */
export async function retireAuthorities(
  { authorities }: ActionOf<'retire-authorities'>,
  context: ActContext,
): Promise<void> {
  for (const authority of authorities) {
    const found = await liveAuthority(context, authority);
    if (!found) throw moved(`the ${authority} CA has gone since it was looked at`);
    const current = authorityOf(found.data ?? {});
    const { servedSince: _, ...kept } = authorityRecordOf(found);
    const record = { ...kept, trust: trustWord([current.certificate]) };
    const data = authorityData(current, [current.certificate]);
    await writeSecret(context, authoritySecret(authority, context.cluster, record, data), found);
  }
}
