import type { Secret } from '../../../../manifests/kube-types.ts';
import type { AuthChange } from '../../../interfaces/etcd-auth.ts';
import { resources } from '../../../interfaces/kube.ts';
import { inspectLeaf, type LeafFacts } from '../../../x509/inspect.ts';
import { wordsOfChange } from '../../know/auth/told.ts';
import { moved } from '../../know/outcome.ts';
import { getOne } from './live.ts';
import { defineRequest } from './request.ts';
import { requireAnswers, requireServed } from './served.ts';

/** etcd's users, roles and rights. etcd has no fence: before a change its revision is compared, and looked at again. */

interface Members {
  readonly clusterId: string;
  /** Voters: a learner answers no such question. */
  readonly memberIds: readonly string[];
}

export interface AuthAnswer {
  readonly enabled: boolean;
  /** In decimal. */
  readonly revision: string;
}

/**
 * Each of these members answers for itself, and all say the same: enabling has made members differ that a crash had
 * left behind. @throws {StepError | EtcdError}
 */
export const askAuth = defineRequest('askAuth', {
  words: () => 'asks every voter for its authentication',
  live: async ({ clusterId, memberIds }: Members, { etcdNow, signal }): Promise<AuthAnswer> => {
    const { etcd, endpoints } = await etcdNow();
    const asked = await Promise.allSettled(endpoints.map((endpoint) => etcd.authStatus(endpoint, { signal })));
    const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const voters = memberIds.map((id) => {
      const found = answers.find((one) => one.memberId === id && one.clusterId === clusterId);
      if (!found) throw moved(`member ${id} does not answer any more, so its users can't be compared`);
      return found;
    });
    const [first, ...others] = voters;
    if (!first) throw moved('no voter is left that could be asked');
    const isSame = others.every(({ enabled, revision }) => enabled === first.enabled && revision === first.revision);
    if (!isSame) throw moved(`members ${memberIds.join(', ')} say different things of etcd's authentication`);
    return { enabled: first.enabled, revision: first.revision };
  },
  model: (state, asked, host) => {
    requireAnswers(state, asked, host);
    if (asked.memberIds.length === 0) throw moved('no voter is left that could be asked');
    if (!host.etcd.hasQuorum(state)) throw moved('no quorum answers, so no member tells its users');
    const { enabled, revision } = host.auth.seen(state);
    return { state, answer: { enabled, revision } };
  },
});

/** A change that is made already changes nothing. */
export const changeAuth = defineRequest('changeAuth', {
  words: ({ change }: { readonly clusterId: string; readonly change: AuthChange }) => wordsOfChange(change),
  writes: () => ({ fence: 'none' }),
  live: async ({ clusterId, change }, { etcdNow, signal }): Promise<void> => {
    const { etcd, endpoints } = await etcdNow();
    await etcd.changeAuth(endpoints, change, { signal, clusterId });
  },
  model: (state, { clusterId, change }, host) => {
    requireServed(state, clusterId, host, 'change');
    return { state: host.auth.change(state, change), answer: undefined };
  },
});

/** By this certificate etcd takes us for this user. @throws {StepError} when it would not. */
export const requireLogin = defineRequest('requireLogin', {
  words: ({ user, secretName }: { readonly user: string; readonly secretName: string }) =>
    `sees that the certificate of Secret ${secretName} is that of user ${user}`,
  live: async ({ user, secretName }, live): Promise<void> => {
    const found = await getOne<Secret>(live, resources.secrets, secretName);
    const inspected = found && inspectLeaf(found.data ?? {});
    requireName(inspected?.kind === 'readable' ? inspected.leaf : undefined, user, secretName);
  },
  // Where certificates were not looked at, what is told of them is not known.
  model: (state, { user, secretName }, host) => {
    const leaf = host.certificates.leaves(state).find(({ plan }) => plan.secretName === secretName);
    if (leaf) requireName(leaf.facts, user, secretName);
    return { state, answer: undefined };
  },
});

function requireName(facts: Pick<LeafFacts, 'commonName'> | undefined, user: string, secretName: string): void {
  if (facts?.commonName === user) return;
  const named = facts ? `has the common name ${facts.commonName ?? '(none)'}` : 'is not there, or unreadable';
  throw moved(`the certificate of Secret ${secretName} ${named}: etcd would not take us for user ${user}`);
}
