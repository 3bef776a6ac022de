import type { Secret } from '../../../../manifests/kube-types.ts';
import { type Authority, authoritySecretName } from '../../../../manifests/render/certificate-names.ts';
import { type AuthorityRecord, authoritySecret } from '../../../../manifests/render/certificate-secret.ts';
import type { CertificateFacts } from '../../../x509/facts.ts';
import type { AuthorityFacts } from '../../../x509/inspect.ts';
import { createAuthority } from '../../../x509/issue.ts';
import { authorityData, authorityOf, pemOf, trustOf } from '../../../x509/secret-data.ts';
import { hasEnded, strangersWord, trustWord } from '../../know/certificates/authority.ts';
import type { Validity } from '../../know/certificates/validity.ts';
import { requireAsRead, secretWritten, writeSecret } from './certificate-secrets.ts';
import type { Host } from './host.ts';
import { authorityFacts } from './issued-facts.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** CAs that are made. Their keys are made in the live halves, and go into their Secrets and nowhere else. */

interface New {
  readonly authority: Authority;
  /** The cluster's name. */
  readonly cluster: string;
  readonly record: AuthorityRecord;
  readonly validity: Validity;
}

interface Made extends New {
  /** Of the Secret that is replaced; absent: there is none. */
  readonly readAt?: ReadAt;
  /** Stay trusted beside it. */
  readonly trusted: readonly CertificateFacts[];
  /**
   * What the record calls the CAs that members must load; absent: nothing runs that has loaded another one.
   * `stranger`: nothing that runs follows the new CA.
   */
  readonly word?: 'known' | 'stranger';
}

/** A CA that no other one vouches for. */
export const makeAuthority = defineRequest('makeAuthority', {
  words: ({ authority }: Made) => `makes the ${authority} CA`,
  writes: ({ authority, cluster, readAt }) => secretWritten(authoritySecretName(cluster, authority), readAt),
  live: async ({ authority, cluster, readAt, record, trusted, word, validity }, live): Promise<void> => {
    const made = await createAuthority({ commonName: commonNameOf(cluster, authority), ...lifeOf(validity) });
    const trust = [made.certificate, ...trusted.map(pemOf)];
    const named = { ...record, ...trustIn(word, trust) };
    await writeSecret(live, authoritySecret(authority, live.cluster, named, authorityData(made, trust)), readAt);
  },
  model: (state, { authority, cluster, readAt, record, trusted, word, validity }, host) => {
    const facts = authorityFacts(commonNameOf(cluster, authority), timesOf(validity), { trusted });
    const named = { ...record, ...trustIn(word, facts.trust) };
    return { state: written(state, { authority, cluster, readAt, record: named, facts }, host), answer: undefined };
  },
});

function trustIn(word: Made['word'], trust: readonly string[]): Pick<AuthorityRecord, 'trust'> {
  if (word === undefined) return {};
  return { trust: word === 'stranger' ? strangersWord(trustWord(trust)) : trustWord(trust) };
}

interface Successor extends New {
  readonly readAt: ReadAt;
}

/**
 * A CA that the one before it vouches for, so that members need no restart for it. Only where that one has ended, its
 * record names the CAs that members must load.
 */
export const succeedAuthority = defineRequest('succeedAuthority', {
  words: ({ authority }: Successor) => `makes the next ${authority} CA, beside the one before it`,
  writes: ({ readAt }) => secretWritten(readAt.name, readAt),
  live: async ({ authority, cluster, readAt, record, validity }, live): Promise<void> => {
    const { data: before = {} } = live.kept<Secret>(readAt);
    const made = await createAuthority({
      commonName: commonNameOf(cluster, authority),
      ...lifeOf(validity),
      previous: authorityOf(before),
    });
    const trust = [made.certificate, ...trustOf(before)];
    const named = { ...record, ...(made.cross === undefined && trustIn('known', trust)) };
    await writeSecret(live, authoritySecret(authority, live.cluster, named, authorityData(made, trust)), readAt);
  },
  model: (state, { authority, cluster, readAt, record, validity }, host) => {
    const found = host.certificates.authority(state, authority);
    requireAsRead(host, `Secret ${readAt.name}`, { readAt, isThere: found !== undefined && found.state !== 'missing' });
    const before = found?.facts;
    if (!before) return { state, answer: undefined };
    const facts = authorityFacts(commonNameOf(cluster, authority), timesOf(validity), {
      trusted: before.authorities,
      ...(!hasEnded(before, new Date(validity.notBefore)) && { previous: before }),
    });
    const named = { ...record, ...(!facts.crossed && trustIn('known', facts.trust)) };
    return { state: written(state, { authority, cluster, readAt, record: named, facts }, host), answer: undefined };
  },
});

interface InModel extends Pick<New, 'authority' | 'cluster' | 'record'> {
  readonly readAt: ReadAt | undefined;
  readonly facts: AuthorityFacts;
}

function written<S>(state: S, { authority, cluster, readAt, record, facts }: InModel, host: Host<S>): S {
  const name = authoritySecretName(cluster, authority);
  const found = host.certificates.authority(state, authority) ?? { name, state: 'missing' };
  requireAsRead(host, `Secret ${name}`, { readAt, isThere: found.state !== 'missing' });
  const uid = found.uid ?? `authority-${authority}-${record.token}`;
  return host.certificates.putAuthority(state, authority, { name, state: 'ours', uid, record, facts });
}

function commonNameOf(cluster: string, authority: Authority): string {
  return `${cluster} ${authority} CA`;
}

function lifeOf({ notBefore, authorityNotAfter }: Validity) {
  return { notBefore: new Date(notBefore), notAfter: new Date(authorityNotAfter) };
}

function timesOf({ notBefore, authorityNotAfter }: Validity) {
  return { notBefore, notAfter: authorityNotAfter };
}
