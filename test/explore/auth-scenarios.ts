import type { AuthSpec } from '../../manifests/api/auth-settings.ts';
import { partOf } from '../run/part.ts';
import type { Change } from './model/git.ts';
import { named, open } from './names-scenarios.ts';
import { one, type Scenario } from './scenario.ts';

const may = (name: string, access: 'Read' | 'Write' | 'ReadWrite', prefix = '/orders/') => ({
  name,
  rights: [{ prefix, access }],
});

/** Two that may do different things. */
const first: Pick<AuthSpec, 'users' | 'roles'> = {
  users: [
    { name: 'orders-client', roles: ['orders'] },
    { name: 'reader', roles: ['reads'] },
  ],
  roles: [may('orders', 'ReadWrite'), may('reads', 'Read')],
};

/** One is dropped with its role. The other may do what it could, by another role than before. */
const second: Pick<AuthSpec, 'users' | 'roles'> = {
  users: [{ name: 'orders-client', roles: ['orders', 'writes'] }],
  roles: [may('orders', 'Read'), may('writes', 'ReadWrite')],
};

/** And by one that it has all the time, of which nothing is left but that. */
const third: Pick<AuthSpec, 'users' | 'roles'> = {
  users: [{ name: 'orders-client', roles: ['orders'] }],
  roles: [may('orders', 'ReadWrite')],
};

/** As few as show something. */
const small: Pick<AuthSpec, 'users' | 'roles'> = {
  users: [{ name: 'orders-client', roles: ['orders'] }],
  roles: [may('orders', 'Read')],
};

const auth = (what: string, mode: AuthSpec['mode'], lists: Pick<AuthSpec, 'users' | 'roles'>): Change => ({
  what: `spec.auth: ${what}`,
  spec: { auth: { mode, ...lists } },
});

const on = auth('two users and roles', 'Enabled', first);
const other = auth('one of them, with another role', 'Enabled', second);
const off = auth('Disabled', 'Disabled', second);
const onAgain = auth('Enabled again, and the role of before', 'Enabled', third);
const few = auth('one user and role', 'Enabled', small);
const fewOff = auth('one user and role, Disabled', 'Disabled', small);
const none = auth('no user', 'Enabled', {});

/** In ring 1 one of them, by turns. */
const meanwhile: readonly Scenario[] = [
  one('users of 3, while members are lost', open(3), [few], { wipe: 1, crash: 1, death: 1 }, 1),
  one('users of 1, late', open(1), [few, none, few], { late: 1, again: 1, death: 1 }, 3),
  one('users of 1, by names', named(1), [few, fewOff], { death: 1, late: 1, authTurned: 1, rightsTaken: 1 }, 2),
];

/** etcd is asked for users, and knows them, as `spec.auth` says. */
export const authScenarios: readonly Scenario[] = [
  one('users of 1', open(1), [on, other, off, onAgain], { death: 2, late: 1, second: 1, status: 1 }, 2),
  one(
    'users of 1, and other hands',
    open(1),
    [on, other, off],
    { userMade: 1, rightsGiven: 1, rightsTaken: 1, authTurned: 2, death: 1 },
    2,
  ),
  ...partOf(meanwhile),
];
