import { authorityRecordOf, authoritySecret } from '../../../manifests/build/certificate-secret.ts';
import { hashOf } from '../../../manifests/build/inputs-hash.ts';
import { inspectAuthority, inspectLeaf } from '../../certificates/inspect.ts';
import { createAuthority } from '../../certificates/issue.ts';
import { authorityData, trustOf } from '../../certificates/secret-data.ts';
import type { ActionOf } from '../actions.ts';
import { canSign, hasEnded } from '../certificates/authority.ts';
import { skew } from '../certificates/validity.ts';
import { isForeign } from '../slots.ts';
import { liveAuthority, liveSecret, writeSecret } from './certificate-secrets.ts';
import type { ActContext } from './context.ts';
import { issueCertificates } from './issue-certificates.ts';

/**
 * Makes CAs that are missing.
 *
 * Where an earlier one was lost while members trusted it, it stays trusted beside the new one: it is read from their own
 * Secrets (`trustedIn`). A CA that is there by now, sound and of this cluster, is left as it is.
 */
export async function makeAuthorities(
  { authorities, token, request, leaves, validity }: ActionOf<'make-authorities'>,
  context: ActContext,
): Promise<void> {
  const { cluster } = context;
  for (const { authority, trustedIn } of authorities) {
    const found = await liveAuthority(context, authority);
    const inspected = found && inspectAuthority(found.data ?? {});
    const at = new Date(new Date(validity.notBefore).getTime() + skew);
    const sound = inspected?.kind === 'readable' && canSign(inspected.authority) && !hasEnded(inspected.authority, at);
    if (found && sound && authorityRecordOf(found).token === token) continue;

    const made = await createAuthority({
      commonName: `${cluster.metadata.name} ${authority} CA`,
      notBefore: new Date(validity.notBefore),
      notAfter: new Date(validity.authorityNotAfter),
    });
    const former = await trustedSoFar(context, trustedIn, at);
    const trust = trustedIn.length === 0 ? undefined : trustWord([made.certificate, ...former]);
    const data = authorityData(made, [made.certificate, ...former]);
    await writeSecret(
      context,
      authoritySecret(
        authority,
        cluster,
        { token, ...(trust !== undefined && { trust }), ...(request !== undefined && { rotation: request }) },
        data,
      ),
      found,
    );
  }
  await issueCertificates({ kind: 'issue-certificates', leaves, validity }, context);
}

/** A short name for a set of CAs, given to those that must have loaded it. */
export function trustWord(certificates: readonly string[]): string {
  return hashOf([...certificates].sort()).slice(0, 12);
}

/** What these Secrets say, each CA once; those that are over nobody can rely on, and what is no CA spoils the whole bundle. */
async function trustedSoFar(context: ActContext, secretNames: readonly string[], at: Date): Promise<readonly string[]> {
  const bundles = await Promise.all(
    secretNames.map(async (name) => {
      const secret = await liveSecret(context, name);
      if (!secret || isForeign(secret)) return [];
      const data = secret.data ?? {};
      const found = inspectLeaf(data);
      if (found.kind !== 'readable') return [];
      const useful = found.leaf.authorities.map((authority) => authority.isAuthority && !hasEnded(authority, at));
      return trustOf(data).filter((_, index) => useful[index]);
    }),
  );
  return [...new Set(bundles.flat())];
}
