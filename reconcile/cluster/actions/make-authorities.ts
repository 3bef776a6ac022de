import { authorityRecordOf, authoritySecret } from '../../../manifests/build/certificate-secret.ts';
import { hashOf } from '../../../manifests/build/inputs-hash.ts';
import { podName } from '../../../manifests/build/names.ts';
import type { Pod } from '../../../manifests/kube-types.ts';
import { inspectAuthority, inspectLeaf } from '../../certificates/inspect.ts';
import { createAuthority } from '../../certificates/issue.ts';
import { authorityData, trustOf } from '../../certificates/secret-data.ts';
import { resources } from '../../kube.ts';
import type { ActionOf } from '../actions.ts';
import { canSign, hasEnded, strangersWord } from '../certificates/authority.ts';
import { skew } from '../certificates/validity.ts';
import { isForeign } from '../slots.ts';
import { liveAuthority, liveSecret, writeSecret } from './certificate-secrets.ts';
import { type ActContext, listOursAnd } from './context.ts';
import { issueCertificates } from './issue-certificates.ts';

/**
 * Makes CAs that are missing.
 *
 * Where an earlier one was lost while members trusted it, it stays trusted beside the new one: it is read from their own
 * Secrets (`trustedIn`). Where those were lost, too, while members run, the CA is called a stranger to them. A CA that is there by now, sound and of this cluster, is left as it is.
 */
export async function makeAuthorities(
  { authorities, token, request, leaves, validity }: ActionOf<'make-authorities'>,
  context: ActContext,
): Promise<void> {
  const { cluster } = context;
  const someLoadedAnother = await hasPods(context);
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
    const word = trustWord([made.certificate, ...former]);
    const trust = trustedIn.length > 0 ? word : someLoadedAnother ? strangersWord(word) : undefined;
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

/** What runs has loaded a CA, whatever became of that. At a birth nothing does. */
async function hasPods(context: ActContext): Promise<boolean> {
  const members = (context.cluster.status?.members ?? []).map(({ name }) => podName(name));
  return (await listOursAnd<Pod>(context, resources.pods, members)).length > 0;
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
