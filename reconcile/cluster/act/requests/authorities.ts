import type { Pod, Secret } from '../../../../manifests/kube-types.ts';
import { type Authority, authoritySecretName } from '../../../../manifests/render/certificate-names.ts';
import { type AuthorityRecord, authoritySecret } from '../../../../manifests/render/certificate-secret.ts';
import { podName } from '../../../../manifests/render/names.ts';
import { resources } from '../../../interfaces/kube.ts';
import type { Program } from '../../../requests/program.ts';
import { conflict } from '../../../requests/refusals.ts';
import type { AuthorityFacts } from '../../../x509/inspect.ts';
import { authorityData, authorityOf } from '../../../x509/secret-data.ts';
import { trustWord } from '../../know/certificates/authority.ts';
import type { AuthorityView } from '../../know/observation.ts';
import { authorityView } from '../../observe/certificates/views.ts';
import { isRecoveryPod } from '../../observe/read-recovery.ts';
import { listOursAnd, nameTaken } from '../actions/context.ts';
import { requireAsRead, secretWritten, writeSecret } from './certificate-secrets.ts';
import type { Host } from './host.ts';
import { trusting } from './issued-facts.ts';
import { getOne } from './live.ts';
import type { ReadAt } from './read-at.ts';
import { defineRequest } from './request.ts';

/** The Secrets of the CAs that we sign with. */

export interface AuthorityRead {
  /** Otherwise the Secret of that name is not this cluster's. */
  readonly ours: boolean;
  readonly uid: string;
  readonly record: AuthorityRecord;
  /** Absent when it cannot be read, or is no CA with its key. */
  readonly facts?: AuthorityFacts;
  readonly readAt: ReadAt;
}

export const readAuthority = defineRequest('readAuthority', {
  words: ({ authority }: { readonly authority: Authority }) => `reads the ${authority} CA`,
  live: async ({ authority }, live): Promise<AuthorityRead | undefined> => {
    const name = authoritySecretName(live.cluster.metadata.name, authority);
    const found = await getOne<Secret>(live, resources.secrets, name);
    return found && asRead(authorityView(live, authority, found), live.keep('secret', name, found));
  },
  model: (state, { authority }, host) => {
    const found = host.certificates.authority(state, authority);
    if (!found || found.state === 'missing') return { state, answer: undefined };
    return { state, answer: asRead(found, { object: 'secret', name: found.name, at: 'current' }) };
  },
});

function asRead({ state, uid = '', record = { token: '' }, facts }: AuthorityView, readAt: ReadAt): AuthorityRead {
  return { ours: state === 'ours', uid, record, ...(facts && { facts }), readAt };
}

/** Our own CA, if there is one. @throws {StepError} `NameTaken` when the Secret is not this cluster's. */
export function* ourAuthority(authority: Authority): Program<AuthorityRead | undefined> {
  const found = yield* readAuthority({ authority });
  if (found && !found.ours) throw nameTaken(resources.secrets, found.readAt.name);
  return found;
}

interface OneAuthority {
  readonly authority: Authority;
  readonly readAt: ReadAt;
  readonly record: AuthorityRecord;
}

/** What its Secret says about it, and nothing else of it changes. */
export const writeAuthorityRecord = defineRequest('writeAuthorityRecord', {
  words: ({ authority }: OneAuthority) => `records the state of the ${authority} CA`,
  writes: ({ readAt }) => secretWritten(readAt.name, readAt),
  live: async ({ authority, readAt, record }, live): Promise<void> => {
    const { data = {} } = live.kept<Secret>(readAt);
    await writeSecret(live, authoritySecret(authority, live.cluster, record, data), readAt);
  },
  model: (state, { authority, readAt, record }, host) => {
    const found = unchanged(state, authority, readAt, host);
    return { state: host.certificates.putAuthority(state, authority, { ...found, record }), answer: undefined };
  },
});

/**
 * Only the newest CA stays trusted, and its record names that trust. The cross certificate stays: a member that was
 * not yet started anew follows it to the CA that it knows.
 */
export const trustOnlyNewest = defineRequest('trustOnlyNewest', {
  words: ({ authority }: OneAuthority) => `trusts only the newest ${authority} CA`,
  writes: ({ readAt }) => secretWritten(readAt.name, readAt),
  live: async ({ authority, readAt, record }, live): Promise<void> => {
    const newest = authorityOf(live.kept<Secret>(readAt).data ?? {});
    const trust = [newest.certificate];
    const named = { ...record, trust: trustWord(trust) };
    await writeSecret(live, authoritySecret(authority, live.cluster, named, authorityData(newest, trust)), readAt);
  },
  model: (state, { authority, readAt, record }, host) => {
    const { facts: before, ...found } = unchanged(state, authority, readAt, host);
    if (!before) return { state, answer: undefined };
    const newest = before.authorities.filter(({ fingerprint }) => fingerprint === before.fingerprint);
    const facts = { ...before, ...trusting(newest) };
    const written = { ...found, facts, record: { ...record, trust: trustWord(facts.trust) } };
    return { state: host.certificates.putAuthority(state, authority, written), answer: undefined };
  },
});

/** Its very Secret, whatever was written to it since. What is gone already is no error; a namesake is, and stays. */
export const deleteAuthority = defineRequest('deleteAuthority', {
  words: ({ authority }: Omit<OneAuthority, 'record'> & { readonly uid: string }) => `deletes the ${authority} CA`,
  writes: ({ readAt: { name } }) => ({ fence: 'uid', object: 'secret', name }),
  live: async ({ uid, readAt }, { kube, cluster, signal }): Promise<void> => {
    await kube.delete(resources.secrets, cluster.metadata.namespace, readAt.name, { preconditions: { uid }, signal });
  },
  model: (state, { authority, uid, readAt: { name } }, host) => {
    const found = host.certificates.authority(state, authority) ?? { state: 'missing' };
    if (found.state === 'missing') return { state, answer: undefined };
    if (found.uid !== uid) throw conflict(`there is another ${name} by now`);
    const gone = { name, state: 'missing' } as const;
    return { state: host.certificates.putAuthority(state, authority, gone), answer: undefined };
  },
});

function unchanged<S>(state: S, authority: Authority, readAt: ReadAt, host: Host<S>): AuthorityView {
  const found = host.certificates.authority(state, authority) ?? { name: readAt.name, state: 'missing' };
  requireAsRead(host, `Secret ${readAt.name}`, { readAt, isThere: found.state !== 'missing' });
  return found;
}

/**
 * A member that runs has loaded a CA, whatever became of that CA. At a birth none does: the pod of a restore, or of a
 * recovery, ends before its member starts, which then reads the CAs of that moment.
 */
export const hasMemberPods = defineRequest('hasMemberPods', {
  words: () => 'sees whether any member has a pod',
  live: async (_: Record<string, never>, live): Promise<boolean> => {
    const { metadata, status } = live.cluster;
    const members = (status?.members ?? []).map(({ name }) => podName(name));
    const pods = await listOursAnd<Pod>(live, resources.pods, members);
    return pods.some((pod) => !isRecoveryPod(pod, metadata.name));
  },
  model: (state, _, host) => ({ state, answer: host.names(state).some((name) => host.pod(state, name)) }),
});
