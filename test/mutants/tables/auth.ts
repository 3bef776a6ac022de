import type { Mutant } from '../mutant.ts';

const changes = 'test/unit/cluster/users-changes.test.ts';
const decided = 'test/unit/cluster/users-decided.test.ts';
const actions = 'test/unit/cluster/actions/users.test.ts';
const kept = 'test/unit/cluster/world/users-kept.test.ts';
const asked = 'test/unit/cluster/ask-auth.test.ts';
const worldUsers = 'test/unit/cluster/world/users.test.ts';
const search = { search: 'users of 1', states: 3000 } as const;

const change = 'reconcile/cluster/know/auth/changes.ts';
const rule = 'reconcile/cluster/decide/rules/auth/keep-auth.ts';
const keeps = 'reconcile/cluster/act/actions/auth/keep-users.ts';
const enables = 'reconcile/cluster/act/actions/auth/enable-auth.ts';
const disables = 'reconcile/cluster/act/actions/auth/disable-auth.ts';
const requests = 'reconcile/cluster/act/requests/auth.ts';
const asks = 'reconcile/cluster/observe/ask-auth.ts';
const way = 'reconcile/cluster/etcd-way.ts';
const effective = 'reconcile/cluster/know/spec/effective-auth.ts';
const made = 'reconcile/cluster/know/auth/made.ts';
const told = 'reconcile/cluster/report/auth.ts';
const step = 'reconcile/cluster/step.ts';

/** What keeps clients and etcd-ratchet from losing their rights in etcd, and others from losing their users (I19). */
export const ofAuth: readonly Mutant[] = [
  {
    file: change,
    from: '...users.flatMap((user) => (isKept(user, wanted) ? [] : rolesTaken(user, wanted, seen))),',
    to: '...users.flatMap((user) => rolesTaken(user, wanted, seen)),',
    without: 'root and our own user lose roles that others gave them',
    killers: [changes],
  },
  {
    file: change,
    from: 'user === rootName || user === own',
    to: 'user === rootName',
    without: 'our own user loses roles that others gave it',
    killers: [changes],
  },
  {
    file: change,
    from: 'user === rootName || user === own',
    to: 'user === own',
    without: 'root loses roles that others gave it, where it is not our own user',
    killers: [changes],
  },
  {
    file: change,
    from: 'role === rootName ? [] : rightsTaken(role, wanted, seen)',
    to: 'rightsTaken(role, wanted, seen)',
    without: 'what etcd says of its own role is revoked in every step',
    killers: [changes],
  },
  {
    file: change,
    from: '...made.users.flatMap((user) =>',
    to: '...Object.keys(seen.users).flatMap((user) =>',
    without: 'users of others are deleted',
    killers: [changes],
  },
  {
    file: change,
    from: '...made.roles.flatMap((role) =>',
    to: '...Object.keys(seen.roles).flatMap((role) =>',
    without: 'roles of others are deleted',
    killers: [changes],
  },
  {
    file: change,
    from: 'name !== rootName && !wanted.has(name) && has(seen, name)',
    to: 'name !== rootName && has(seen, name)',
    without: 'users that the spec lists are deleted',
    killers: [changes],
  },
  {
    file: change,
    from: 'name !== rootName && !wanted.has(name) && has(seen, name)',
    to: 'name !== rootName && !wanted.has(name)',
    without: 'what is gone is deleted in every step',
    killers: [changes],
  },
  {
    file: change,
    from: "had.access === right.access || had.access === 'ReadWrite' ? [] : [{ ...right, access: 'ReadWrite' }]",
    to: 'had.access === right.access ? [] : [right]',
    without: 'a role loses an access before another role gives it',
    killers: [changes, search],
  },
  {
    file: change,
    from: "right.access === access || right.access === 'ReadWrite' ? [] : [{ op: 'grant-right', role, right }]",
    to: '[]',
    without: 'a role keeps more access than the spec gives it',
    killers: [changes],
  },
  {
    file: change,
    from: "if (!right) return [{ op: 'revoke-right', role, range: { key, rangeEnd } }];",
    to: 'if (!right) return [];',
    without: 'a role keeps rights that the spec does not give it',
    killers: [changes],
  },
  {
    file: change,
    from: 'kept.find((one) => isSameRange(one, { key, rangeEnd }))',
    to: 'undefined',
    without: 'a role loses the rights that it was just given',
    killers: [changes],
  },
  {
    file: rule,
    from: "if (auth.kind === 'unknown') return unread(auth.cause);",
    to: "if (auth.kind === 'unknown') return undefined;",
    without: "users that can't be read count as they are to be",
    killers: [decided],
  },
  {
    file: rule,
    from: 'if (auth.enabled && !wanted.enabled) {',
    to: 'if (false) {',
    without: 'authentication stays on where the spec turns it off',
    killers: [decided],
  },
  {
    file: rule,
    from: '  if (first.length > 0)',
    to: '  if (first.length > 0 && auth.enabled)',
    without: 'authentication is turned on before there are users',
    killers: [decided, search],
  },
  {
    file: rule,
    from: 'if (auth.enabled || !wanted.enabled) return undefined;',
    to: 'if (!wanted.enabled) return undefined;',
    without: 'authentication is turned on in every step',
    killers: [decided],
  },
  {
    file: rule,
    from: 'if (auth.enabled || !wanted.enabled) return undefined;',
    to: 'if (auth.enabled) return undefined;',
    without: 'authentication is turned on where the spec has it off',
    killers: [decided],
  },
  {
    file: rule,
    from: 'changes.slice(0, most.changes)',
    to: 'changes.slice()',
    without: 'a step makes more changes than it has time for',
    killers: [decided],
  },
  {
    file: rule,
    from: 'index === 0 || bytes <= most.bytes',
    to: 'true',
    without: 'a lease is too large for the status',
    killers: [decided],
  },
  {
    file: rule,
    from: "waitForStage(situation) ?? waitToBegin(situation) ?? act(action, 'EnablingAuth', why)",
    to: "waitForStage(situation) ?? act(action, 'EnablingAuth', why)",
    without: 'authentication is turned on outside of windows',
    killers: [worldUsers],
  },
  {
    file: keeps,
    from: 'if (now.revision !== revision)',
    to: 'if (false)',
    without: 'changes are made to other users than were seen',
    killers: [actions, kept],
  },
  {
    file: keeps,
    from: '    yield* requireAsSeen(action);\n    for (const',
    to: '    for (const',
    without: 'users are changed without another look',
    killers: [actions, kept],
  },
  {
    file: enables,
    from: 'yield* requireLogin({ user, secretName });',
    to: '',
    without: 'authentication is turned on with a certificate that is of no user with the role root',
    killers: [actions],
  },
  {
    file: enables,
    from: 'yield* requireAsSeen(action);',
    to: '',
    without: 'authentication is turned on after another hand took the rights of users',
    killers: [actions, kept],
  },
  {
    file: enables,
    from: 'if (!enabled) throw',
    to: 'if (false) throw',
    without: 'authentication that is off again counts as turned on',
    killers: [actions],
  },
  {
    file: enables,
    from: 'if (revision !== undefined) yield* requireSameData',
    to: 'if (false) yield* requireSameData',
    without: 'members may differ after authentication was turned on',
    killers: [actions],
  },
  {
    file: enables,
    from: 'memberIds.includes(one.memberId) ? [BigInt(one.revision)] : []',
    to: '[BigInt(one.revision)]',
    without: 'data are compared at the revision of a learner',
    killers: [actions],
  },
  {
    file: enables,
    from: 'one < least ? one : least',
    to: 'least',
    without: 'data are compared at a revision that some have not reached',
    killers: [actions],
  },
  {
    file: disables,
    from: 'yield* requireAsSeen(action);',
    to: '',
    without: 'authentication is turned off without another look',
    killers: [actions],
  },
  {
    file: requests,
    from: 'one.memberId === id && one.clusterId === clusterId',
    to: 'one.memberId === id',
    without: 'a member of another cluster answers for users',
    killers: [actions],
  },
  {
    file: requests,
    from: 'enabled === first.enabled && revision === first.revision',
    to: 'revision === first.revision',
    without: 'members that differ in whether they ask for users count as alike',
    killers: [actions],
  },
  {
    file: requests,
    from: 'enabled === first.enabled && revision === first.revision',
    to: 'enabled === first.enabled',
    without: 'members that differ in their users count as alike',
    killers: [actions],
  },
  {
    file: requests,
    from: 'if (!found) throw moved(',
    to: 'if (false) throw moved(',
    without: 'a voter that is silent is not missed',
    killers: [actions],
  },
  {
    file: requests,
    from: 'if (facts?.commonName === user) return;',
    to: 'if (facts) return;',
    without: 'any certificate counts as that of our user',
    killers: [actions],
  },
  {
    file: asks,
    from: 'auth?.revision === revision && auth.enabled === enabled && auth.asked === hashOfWanted(wanted)',
    to: 'auth?.enabled === enabled && auth.asked === hashOfWanted(wanted)',
    without: 'what others change of users is not seen',
    killers: [asked],
  },
  {
    file: asks,
    from: 'auth?.revision === revision && auth.enabled === enabled && auth.asked',
    to: 'auth?.revision === revision && auth.asked',
    without: 'authentication that others turn on is not seen',
    killers: [asked],
  },
  {
    file: asks,
    from: 'auth?.revision === revision && auth.enabled === enabled && auth.asked === hashOfWanted(wanted)',
    to: 'auth?.revision === revision && auth.enabled === enabled',
    without: 'another list of users is not seen',
    killers: [asked],
  },
  {
    file: asks,
    from: 'if (clusterID !== clusterId) return false;',
    to: '',
    without: 'users of a life that was given up count as those of the one that is there',
    killers: [asked],
  },
  {
    file: asks,
    from: '!thorough && isSettled(',
    to: 'isSettled(',
    without: 'a plan begins without users',
    killers: [asked],
  },
  {
    file: asks,
    from: 'if (status.clusterId === clusterId) return status;',
    to: 'return status;',
    without: "another cluster's users are taken for these",
    killers: [asked],
  },
  {
    file: asks,
    from: 'names.filter((name) => ours.has(name))',
    to: 'names',
    without: 'each of very many users of others is asked for',
    killers: [asked],
  },
  {
    file: way,
    from: 'changeAuth: guard(etcd.changeAuth),',
    to: '',
    without: "etcd's authentication is changed after the lease is over",
    killers: [actions],
  },
  {
    file: effective,
    from: 'if (!value) return { value, refusal: withoutCertificates(mode) };',
    to: 'if (!value) return { value };',
    without: 'users that no certificate can tell are not kept, and nothing says why',
    killers: [decided],
  },
  {
    file: effective,
    from: '[version, ...runs].filter(isVersion)',
    to: '[version].filter(isVersion)',
    without: 'authentication is turned on while a member runs a version by which it protects nothing',
    killers: [decided],
  },
  {
    file: effective,
    from: '[version, ...runs].filter(isVersion)',
    to: '[...runs].filter(isVersion)',
    without: 'authentication is turned on with a version by which it protects nothing, while that is not there yet',
    killers: [decided],
  },
  {
    file: effective,
    from: "if (asked.mode === 'Disabled' || open === undefined || !bypass) return { value };",
    to: 'if (open === undefined || !bypass) return { value };',
    without: "authentication can't be turned off on a version by which it protects nothing",
    killers: [decided],
  },
  {
    file: effective,
    from: 'value: isOn ? value : undefined',
    to: 'value',
    without: 'authentication is turned on with a version by which it protects nothing',
    killers: [decided],
  },
  {
    file: effective,
    from: 'value: isOn ? value : undefined',
    to: 'value: undefined',
    without: 'users are not kept any more on a version by which they protect nothing, though they are asked for',
    killers: [decided],
  },
  {
    file: made,
    from: 'names.filter((name) => there === undefined || Object.hasOwn(there, name))',
    to: 'names.filter((name) => there !== undefined && Object.hasOwn(there, name))',
    without: 'status forgets what was made where users were not asked for',
    killers: [changes],
  },
  {
    file: made,
    from: 'names.filter((name) => there === undefined || Object.hasOwn(there, name))',
    to: 'names',
    without: 'status remembers each name for ever, and deletes what others make of it',
    killers: [changes],
  },
  {
    file: told,
    from: 'content ? isDone(auth, content, { cluster, effective }) : before?.revision === revision',
    to: 'content ? true : before?.revision === revision',
    without: 'users that are not as asked are never looked at again',
    killers: [decided],
  },
  {
    file: told,
    from: 'content ? isDone(auth, content, { cluster, effective }) : before?.revision === revision',
    to: 'content ? isDone(auth, content, { cluster, effective }) : true',
    without: 'a revision that was not looked at counts as what was asked',
    killers: [decided],
  },
  {
    file: told,
    from: 'wanted !== undefined && enabled === wanted.enabled && changesTo',
    to: 'wanted !== undefined && changesTo',
    without: 'authentication that is off counts as asked',
    killers: [decided],
  },
  {
    file: step,
    from: "action.kind === 'keep-users' ? authStatus(situation) : undefined",
    to: 'undefined',
    without: 'a crash leaves users of spec.auth behind that count as made by others',
    killers: [kept],
  },
];
