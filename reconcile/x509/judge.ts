import type { X509Certificate } from 'node:crypto';
import type { LeafPlan } from '../../manifests/render/certificate-names.ts';
import { type Chain, chainOf } from './chain.ts';
import { type Defect, fatal, warning } from './defect.ts';
import type { CertificateFacts } from './facts.ts';
import { inspectLeaf, type LeafFacts, type SecretData, type Unreadable } from './inspect.ts';
import { keyFlawOf } from './keys.ts';
import { isWildcardOutOfReach, missingNames, requiredNames } from './names.ts';

export { agreementDefects } from './agreement.ts';
export type { Defect } from './defect.ts';
export { missingNames } from './names.ts';

/** Clocks of nodes differ: what begins within this time has begun. */
export const defaultSkewMs = 5 * 60_000;

const day = 86_400_000;

/** By fingerprint: see {@link inspectLeaf}. */
type Parsed = ReadonlyMap<string, X509Certificate>;

export type LeafQuestion = {
  readonly plan: LeafPlan;
  readonly now: Date;
  /** Milliseconds; 5 minutes by default. */
  readonly skewMs?: number;
} & (
  | { readonly facts: LeafFacts; readonly parsed?: Parsed }
  /** A Secret's `.data`; `undefined`: there is no such Secret. */
  | { readonly data: SecretData | undefined }
);

/**
 * All defects of a leaf's Secret, the fatal first, for any signer: of a plan's names only {@link requiredNames} count.
 */
export function defectsOf(question: LeafQuestion): readonly Defect[] {
  const { plan, now, skewMs = defaultSkewMs } = question;
  if ('facts' in question) {
    const { facts, parsed } = question;
    return flawsOf(facts, { plan, now, skewMs, ...(parsed && { parsed }) });
  }
  if (question.data === undefined) {
    const { secretName } = plan;
    const cure = 'create it with the keys tls.crt, tls.key and ca.crt';
    return [fatal({ reason: 'SecretMissing', secretName, problem: 'does not exist', cure })];
  }
  const found = inspectLeaf(question.data);
  if (found.kind !== 'readable') return [unusable(found, plan)];
  return flawsOf(found.leaf, { plan, now, skewMs, parsed: found.parsed });
}

/**
 * The contents of a leaf's Secret with all defects, from one reading, which costs a millisecond.
 * @param question.data as for {@link defectsOf}
 */
export function judgeSecret(question: {
  readonly data: SecretData | undefined;
  readonly plan: LeafPlan;
  readonly now: Date;
}): { readonly facts?: LeafFacts; readonly defects: readonly Defect[] } {
  const { data, plan, now } = question;
  const found = data && inspectLeaf(data);
  if (found?.kind !== 'readable') return { defects: defectsOf(question) };
  return { facts: found.leaf, defects: defectsOf({ facts: found.leaf, parsed: found.parsed, plan, now }) };
}

/** When a certificate is to be replaced: after two thirds of its life. */
export function renewalTime({ notBefore, notAfter }: Pick<CertificateFacts, 'notBefore' | 'notAfter'>): Date {
  return new Date(notBefore.getTime() + ((notAfter.getTime() - notBefore.getTime()) * 2) / 3);
}

interface Circumstances {
  readonly plan: LeafPlan;
  readonly now: Date;
  readonly skewMs: number;
  readonly parsed?: Parsed;
}

function flawsOf(facts: LeafFacts, circumstances: Circumstances): readonly Defect[] {
  const { plan, ...times } = circumstances;
  const { intermediates, authorities } = facts;
  const chain = chainOf({ leaf: facts, intermediates, trust: authorities, usages: plan.usages, ...times });
  return [
    ...keyFlaws(facts, circumstances),
    ...contentFlaws(facts, circumstances),
    ...trustFlaws(facts, chain, circumstances),
    ...timeFlaws(facts, chain, circumstances),
  ].sort((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'));
}

function unusable(found: Unreadable, { secretName }: LeafPlan): Defect {
  switch (found.kind) {
    case 'missing-keys': {
      const problem = `has nothing under ${found.keys.join(', ')}`;
      const cure = 'store the certificate under tls.crt, its key under tls.key and the CAs to trust under ca.crt';
      return fatal({ reason: 'KeysMissing', secretName, problem, cure });
    }
    case 'unreadable': {
      const cure = `store plain PEM under ${found.key}`;
      return fatal({ reason: 'Unreadable', secretName, key: found.key, problem: found.problem, cure });
    }
  }
}

function keyFlaws(facts: LeafFacts, { plan: { secretName } }: Circumstances): readonly Defect[] {
  const flaw = keyFlawOf(facts);
  const cure = 'issue the certificate with an ECDSA key on P-256, or an RSA key of at least 2048 bits';
  return [
    ...(facts.keyMatches
      ? []
      : [
          fatal({
            reason: 'KeyMismatch',
            secretName,
            key: 'tls.key',
            problem: 'is not the key of the first certificate in tls.crt',
            cure: 'store the two that were made together, the leaf first in tls.crt',
          }),
        ]),
    ...(flaw === undefined ? [] : [fatal({ ...flaw, secretName, key: 'tls.crt', cure })]),
  ];
}

function contentFlaws(facts: LeafFacts, { plan }: Circumstances): readonly Defect[] {
  const { secretName } = plan;
  const key = 'tls.crt';
  const defects: Defect[] = [];
  const usages = plan.usages.filter((usage) => !facts.usages.includes(usage));
  if (usages.length > 0) {
    const problem = `lacks the extended key usage ${usages.join(' and ')}`;
    const cure = `issue it for ${plan.usages.join(' and ')}`;
    defects.push(fatal({ reason: 'MissingUsages', secretName, key, problem, cure }));
  }
  const names = missingNames(facts, requiredNames(plan));
  if (names.length > 0) {
    const problem = `is not valid for ${names.join(', ')}`;
    const cure = `issue it with the subject alternative names ${requiredNames(plan).join(', ')}`;
    defects.push(fatal({ reason: 'MissingNames', secretName, key, problem, cure }));
  } else if (isWildcardOutOfReach(facts, plan)) {
    const [host = ''] = plan.dnsNames;
    const problem = `covers ${host} by a wildcard only, which etcd compares with reverse DNS when members connect`;
    const cure = `add ${host} itself, or the same wildcard with the domain of the cluster (*${host.slice(host.indexOf('.'))}.cluster.local)`;
    defects.push(fatal({ reason: 'WildcardPeerName', secretName, key, problem, cure }));
  }
  if (plan.commonName === undefined && facts.commonName) {
    const problem = "has a common name, and etcd's HTTP gateway refuses such certificates with authentication on";
    const cure = 'issue it without a common name';
    defects.push(fatal({ reason: 'HasCommonName', secretName, key, problem, cure }));
  }
  return defects;
}

function trustFlaws(facts: LeafFacts, chain: Chain, { plan: { secretName } }: Circumstances): readonly Defect[] {
  const defects = facts.authorities
    .filter(({ isAuthority }) => !isAuthority)
    .map(({ subject }) =>
      fatal({
        reason: 'NotACertificateAuthority',
        secretName,
        key: 'ca.crt',
        problem: `holds the certificate of "${subject}", which is no CA`,
        cure: 'keep only the certificates of CAs in ca.crt; a leaf and its intermediates go into tls.crt',
      }),
    );
  if (chain.kind === 'anchored') return defects;
  return [
    ...defects,
    fatal({
      reason: 'ChainBroken',
      secretName,
      key: 'tls.crt',
      problem: `cannot be verified with ca.crt: ${chain.why}`,
      cure: 'put the intermediates behind the leaf in tls.crt, and the CA that they lead to into ca.crt',
    }),
  ];
}

function timeFlaws(
  facts: LeafFacts,
  chain: Chain,
  { plan: { secretName }, now, skewMs }: Circumstances,
): readonly Defect[] {
  const { notBefore, notAfter } = facts;
  const at = { secretName, key: 'tls.crt' } as const;
  if (notAfter <= now) {
    const problem = `ended at ${notAfter.toISOString()}`;
    return [fatal({ reason: 'Expired', ...at, problem, cure: 'issue it again' })];
  }
  if (notBefore.getTime() > now.getTime() + skewMs) {
    const problem = `begins only at ${notBefore.toISOString()}`;
    return [fatal({ reason: 'NotYetValid', ...at, problem, cure: 'wait until then, or set the clocks right' })];
  }
  const endsAt = chain.kind === 'anchored' ? chain.endsAt : notAfter;
  const soon = Math.min(30 * day, (notAfter.getTime() - notBefore.getTime()) / 6);
  if (endsAt.getTime() - now.getTime() > soon) return [];
  const what = endsAt < notAfter ? 'rests on a CA that ends' : 'ends';
  const cure = endsAt < notAfter ? 'renew the CA, then issue this certificate again' : 'issue it again before that';
  return [warning({ reason: 'ExpiresSoon', ...at, problem: `${what} at ${endsAt.toISOString()}`, cure })];
}
