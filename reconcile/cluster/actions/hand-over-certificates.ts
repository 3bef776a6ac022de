import { leafSecret } from '../../../manifests/build/certificate-secret.ts';
import { annotations } from '../../../manifests/build/names.ts';
import type { Secret } from '../../../manifests/kube-types.ts';
import { inspectLeaf } from '../../certificates/inspect.ts';
import { writePem } from '../../certificates/pem.ts';
import { isReason, resources } from '../../kube.ts';
import type { ActionOf, HandOver, TrustOrder } from '../actions.ts';
import { certificateOwner, isOwnedBy, issuedSecretState } from '../certificates/issued.ts';
import { moved } from '../outcome.ts';
import { leafOwner, liveLeaf, liveSecret, writeSecret } from './certificate-secrets.ts';
import type { ActContext } from './context.ts';

/**
 * Gives members, applications and ourselves what cert-manager issued, or a person provided: each Secret is written with one request, whole. Key and
 * certificate go from Secret to Secret and nowhere else.
 *
 * Guards the trust: only the very leaf that was judged is handed over; one that was renewed since is judged first.
 */
export async function handOverCertificates(
  { at, trust, leaves, adopt }: ActionOf<'hand-over-certificates'>,
  context: ActContext,
): Promise<void> {
  for (const { name, certificateUid } of adopt) await adoptSecret(name, certificateUid, context);
  const bundles = new Map(
    await Promise.all(trust.map(async (order) => [order.authority, await bundleOf(order, context)] as const)),
  );
  for (const order of leaves) await handOver(order, { bundle: bundles.get(order.plan.authority) ?? '', at }, context);
}

async function handOver(
  order: HandOver,
  { bundle, at }: { readonly bundle: string; readonly at: string },
  context: ActContext,
): Promise<void> {
  const { plan, fingerprint } = order;
  const owner = await leafOwner(order, context);
  const found = await liveLeaf(context, plan, owner);
  const pair = fingerprint === undefined ? found?.data : await issuedPair(order, fingerprint, context);
  const { 'tls.crt': certificate, 'tls.key': key } = pair ?? {};
  if (!certificate || !key) throw moved(`Secret ${plan.secretName} has gone since it was looked at`);
  const data = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': Buffer.from(bundle).toString('base64') };
  const secret = leafSecret(plan, context.cluster, owner, data);
  const metadata = { ...secret.metadata, annotations: { [annotations.handedOverAt]: at } };
  await writeSecret(context, { ...secret, metadata }, found);
}

async function issuedPair(
  { plan, source = plan.secretName }: HandOver,
  fingerprint: string,
  context: ActContext,
): Promise<Secret['data'] | undefined> {
  const data = (await liveSecret(context, source))?.data ?? {};
  const inspected = inspectLeaf(data);
  if (inspected.kind === 'readable' && inspected.leaf.keyMatches && inspected.leaf.fingerprint === fingerprint) {
    return data;
  }
  throw moved(`Secret ${source} was written anew since it was looked at`);
}

/** PEM of these CAs in this order, out of whichever Secret has them. */
async function bundleOf({ fingerprints, sources }: TrustOrder, context: ActContext): Promise<string> {
  const secrets = await Promise.all(sources.map((name) => liveSecret(context, name)));
  const known = new Map(
    secrets.flatMap((secret) => {
      const inspected = inspectLeaf(secret?.data ?? {});
      const authorities = inspected.kind === 'readable' ? inspected.leaf.authorities : [];
      return authorities.map((facts) => [facts.fingerprint, facts.der] as const);
    }),
  );
  return fingerprints
    .map((fingerprint) => {
      const der = known.get(fingerprint);
      if (der === undefined) throw moved('a CA that was to be trusted has gone since it was looked at');
      return writePem('CERTIFICATE', Buffer.from(der, 'base64'));
    })
    .join('');
}

/** cert-manager keeps the Secrets of deleted Certificates, keys and all; with its Certificate as owner, a Secret goes too. */
async function adoptSecret(name: string, certificateUid: string, context: ActContext): Promise<void> {
  const { kube, cluster, signal } = context;
  const secret = await liveSecret(context, name);
  const state = issuedSecretState(cluster.metadata.name, name, secret, { state: 'ours', uid: certificateUid });
  if (!secret || state !== 'ours' || isOwnedBy(secret, certificateUid)) return;
  const { ownerReferences = [] } = secret.metadata;
  const metadata = {
    ...secret.metadata,
    ownerReferences: [...ownerReferences, certificateOwner(name, certificateUid)],
  };
  try {
    await kube.update<Secret>(resources.secrets, { ...secret, metadata }, { signal });
  } catch (error) {
    if (isReason(error, 'Conflict')) throw moved(`Secret ${name} was written by somebody else meanwhile`);
    throw error;
  }
}
