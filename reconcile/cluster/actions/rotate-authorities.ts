import { authorityRecordOf, authoritySecret } from '../../../manifests/build/certificate-secret.ts';
import { inspectAuthority } from '../../certificates/inspect.ts';
import { createAuthority } from '../../certificates/issue.ts';
import { authorityData, authorityOf, trustOf } from '../../certificates/secret-data.ts';
import type { ActionOf } from '../actions.ts';
import { moved } from '../outcome.ts';
import { liveAuthority, writeSecret } from './certificate-secrets.ts';
import type { ActContext } from './context.ts';
import { trustWord } from './make-authorities.ts';

/**
 * A new CA in the place of each, cross-signed by the one before, which stays trusted. Members need no restart for it: the
 * chain that new leaves come with leads to the CA that they know.
 *
 * One that is trusted beside another already is in the middle of a rotation, and is left as it is.
 */
export async function rotateAuthorities(
  { authorities, request, validity }: ActionOf<'rotate-authorities'>,
  context: ActContext,
): Promise<void> {
  const { cluster } = context;
  for (const authority of authorities) {
    const found = await liveAuthority(context, authority);
    const inspected = found && inspectAuthority(found.data ?? {});
    if (!found || inspected?.kind !== 'readable') throw moved(`the ${authority} CA has gone since it was looked at`);
    const { servedSince: _, ...record } = authorityRecordOf(found);
    if (inspected.authority.trust.length > 1 || (request !== undefined && record.rotation === request)) continue;

    const made = await createAuthority({
      commonName: `${cluster.metadata.name} ${authority} CA`,
      notBefore: new Date(validity.notBefore),
      notAfter: new Date(validity.authorityNotAfter),
      previous: authorityOf(found.data ?? {}),
    });
    const trust = [made.certificate, ...trustOf(found.data ?? {})];
    const wanted = authoritySecret(
      authority,
      cluster,
      {
        ...record,
        ...(request !== undefined && { rotation: request }),
        // Without a chain to the old one, members have to be started with the new one first.
        ...(made.cross === undefined && { trust: trustWord(trust) }),
      },
      authorityData(made, trust),
    );
    await writeSecret(context, wanted, found);
  }
}
