import { authoritySecretName } from '../../../manifests/build/certificate-names.ts';
import { leafSecret } from '../../../manifests/build/certificate-secret.ts';
import type { Secret } from '../../../manifests/kube-types.ts';
import { inspectAuthority } from '../../certificates/inspect.ts';
import { issueLeaf } from '../../certificates/issue.ts';
import { authorityOf, leafData, trustOf } from '../../certificates/secret-data.ts';
import type { ActionOf, LeafOrder } from '../actions.ts';
import { canSign } from '../certificates/authority.ts';
import { moved } from '../outcome.ts';
import { leafOwner, liveAuthority, liveLeaf, writeSecret } from './certificate-secrets.ts';
import type { ActContext } from './context.ts';

/**
 * Signs leaves and writes each with one request, whole: key, chain and trust always fit together. What a member mounts follows
 * the Secret without a restart.
 *
 * Guards the trust: the CA is read again just before, so that no leaf is signed by one that was replaced meanwhile.
 */
export async function issueCertificates(
  { leaves, validity }: ActionOf<'issue-certificates'>,
  context: ActContext,
): Promise<void> {
  const authorities = await readAuthorities(leaves, context);
  for (const order of leaves) {
    const { plan, remedy } = order;
    const owner = await leafOwner(order, context);
    const authority = authorities.get(plan.authority);
    if (!authority)
      throw moved(`Secret ${authoritySecretName(context.cluster.metadata.name, plan.authority)} has gone`);
    const found = await liveLeaf(context, plan, owner);
    const trust = trustOf(authority.data ?? {});
    const data =
      remedy === 'bundle' && found
        ? { ...found.data, 'ca.crt': Buffer.from(trust.join('')).toString('base64') }
        : leafData(
            await issueLeaf(plan, authorityOf(authority.data ?? {}), {
              notBefore: new Date(validity.notBefore),
              notAfter: new Date(validity.leafNotAfter),
            }),
            trust,
          );
    await writeSecret(context, leafSecret(plan, context.cluster, owner, data), found);
  }
}

async function readAuthorities(
  leaves: readonly LeafOrder[],
  context: ActContext,
): Promise<ReadonlyMap<string, Secret>> {
  const needed = [...new Set(leaves.map(({ plan }) => plan.authority))];
  const read = await Promise.all(
    needed.map(async (authority) => {
      const secret = await liveAuthority(context, authority);
      const inspected = secret && inspectAuthority(secret.data ?? {});
      return secret && inspected?.kind === 'readable' && canSign(inspected.authority)
        ? [[authority, secret] as const]
        : [];
    }),
  );
  return new Map(read.flat());
}
