import { rootName } from '../../manifests/api/auth-settings.ts';
import type { AuthAnswer } from '../../reconcile/cluster/act/requests/auth.ts';
import { keepAuth } from '../../reconcile/cluster/decide/rules/auth/keep-auth.ts';
import type { Action, ActionOf } from '../../reconcile/cluster/know/action.ts';
import { madeIn } from '../../reconcile/cluster/know/auth/made.ts';
import type { Observation } from '../../reconcile/cluster/know/observation.ts';
import type { Rule, Situation } from '../../reconcile/cluster/know/situation.ts';
import type { AuthChange } from '../../reconcile/interfaces/etcd-auth.ts';
import type { Code } from './model/code.ts';
import { type Bug, instead, unchecked } from './seeding.ts';

/** Bugs by which clients would lose rights, or we ours, or others their users. */
export const authBugs: readonly Bug[] = [
  {
    name: 'enables first',
    what: 'authentication is turned on as soon as root is there, before other users are made',
    violates: 'I19',
    scenario: 'users of 1',
    faults: {},
    seed: (code) => changing(code, (changes) => changes.filter(isAboutRoot)),
  },
  {
    name: 'deletes all others',
    what: 'what the spec does not list is deleted, whoever made it',
    violates: 'I19',
    scenario: 'users of 1, and other hands',
    faults: { userMade: 1 },
    seed: (code) => ({ ...code, decide: (observation) => code.decide(withOthersAsMade(observation)) }),
  },
  {
    name: 'enables without a look',
    what: 'users are not compared once more just before authentication is turned on',
    violates: 'I19',
    scenario: 'users of 1, and other hands',
    faults: { rightsTaken: 1 },
    seed: (code) =>
      unchecked(code, 'enable-auth', {
        askAuth: (answer: AuthAnswer, { revision }: ActionOf<'enable-auth'>) => ({ ...answer, revision }),
      }),
  },
  {
    name: 'takes before it gives',
    what: 'rights and roles are taken before others are given',
    violates: 'I19',
    scenario: 'users of 1',
    faults: {},
    seed: (code) => changing(code, takenFirst),
  },
  {
    name: 'forgets our own user',
    what: 'authentication is turned on without the user whom etcd takes us for',
    violates: 'I19',
    scenario: 'users of 1, by names',
    faults: {},
    seed: (code) => changing(code, (changes) => changes.filter((one) => !isAbout(one, 'orders-reconciler'))),
  },
  {
    name: 'forgets what it made',
    what: 'status is not told of users before they are made',
    violates: 'convergence',
    scenario: 'users of 1',
    faults: { death: 1 },
    seed: (code) => ({ ...code, tellsUsersLate: true }),
  },
];

/** With these changes alone, and as if nothing else were left. */
function changing(code: Code, change: (changes: readonly AuthChange[]) => readonly AuthChange[]): Code {
  const rule: Rule = (situation) => {
    const decision = keepAuth(situation);
    if (decision?.kind !== 'act' || decision.action.kind !== 'keep-users') return decision;
    const changes = change(decision.action.changes);
    if (changes.length > 0) return { ...decision, action: { ...decision.action, changes } satisfies Action };
    return keepAuth(withoutContent(situation));
  };
  return instead(code, 'keepAuth', rule);
}

function withoutContent(situation: Situation): Situation {
  if (situation.auth?.kind !== 'known') return situation;
  const { content: _, ...auth } = situation.auth;
  return { ...situation, auth };
}

function withOthersAsMade(observation: Observation): Observation {
  const { cluster, auth } = observation;
  if (auth?.kind !== 'known' || !auth.content || !cluster.status) return observation;
  const { users, roles } = madeIn(cluster);
  const { content } = auth;
  const { others } = content;
  const all = { users: [...users, ...others.users], roles: [...roles, ...others.roles] };
  const seen = {
    users: { ...content.users, ...named(others.users) },
    roles: { ...content.roles, ...named(others.roles) },
  };
  return {
    ...observation,
    auth: { ...auth, content: { ...seen, others: { users: [], roles: [] } } },
    cluster: { ...cluster, status: { ...cluster.status, auth: { enabled: auth.enabled, ...all } } },
  };
}

function named(names: readonly string[]): Readonly<Record<string, readonly never[]>> {
  return Object.fromEntries(names.map((name) => [name, []]));
}

function isAbout(change: AuthChange, user: string): boolean {
  return 'user' in change && change.user === user;
}

function isAboutRoot(change: AuthChange): boolean {
  return isAbout(change, rootName) || ('role' in change && change.role === rootName);
}

function takenFirst(changes: readonly AuthChange[]): readonly AuthChange[] {
  const added = changes.flatMap((one) => (one.op === 'add-role' ? [one.role] : []));
  const gives = (change: AuthChange) =>
    change.op === 'grant-right' ? added.includes(change.role) : /^(add|grant)-/.test(change.op);
  return changes.toSorted((a, b) => Number(gives(a)) - Number(gives(b)));
}
