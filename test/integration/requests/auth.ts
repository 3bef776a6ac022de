import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { askAuth, changeAuth, requireLogin } from '../../../reconcile/cluster/act/requests/auth.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { AuthChange, KeyRange, Right } from '../../../reconcile/interfaces/etcd-auth.ts';
import type { Program } from '../../../reconcile/requests/program.ts';
import type { EtcdVersion } from '../../support/cluster/binaries/catalogue.ts';
import type { Contract, Contracts } from './contract.ts';
import type { Users } from './guarded-etcd.ts';
import { member } from './members.ts';
import {
  bereft,
  clusterIn,
  guarded as guardedEtcd,
  listIn,
  onEachMinor,
  silent,
  statusesIn,
  steady,
  unknownMember,
  whenNotServed,
  wrongCluster,
} from './running.ts';
import type { Scene } from './scene.ts';
import { authority, leaf, managed, planOf } from './secrets.ts';

/** Whatever changes here is asked for by name: only names of users and roles of others are observed. */
const spec: EtcdClusterSpec['auth'] = {
  mode: 'Enabled',
  users: [{ name: 'amy' }, { name: 'bob' }],
  roles: [{ name: 'reader' }, { name: 'spare' }, { name: 'writer' }],
};

const guarded = (version: EtcdVersion, users: Users) => ({ ...guardedEtcd(version, users), auth: spec });

function range(key: string, rangeEnd = ''): KeyRange {
  return { key: Buffer.from(key).toString('base64'), rangeEnd: Buffer.from(rangeEnd).toString('base64') };
}

function right(access: Right['access'], key: string, rangeEnd?: string): Right {
  return { ...range(key, rangeEnd), access };
}

const root = { root: ['root'] };
/** Authentication is off, and may be turned on. */
const some: Users = {
  users: { ...root, amy: ['reader'] },
  roles: { root: [], reader: [right('Read', '/b', '/c')], spare: [] },
};
const on: Users = { ...some, enabled: true };

function votersIn(seen: Observation): readonly string[] {
  const learners = new Set(listIn(seen).members.flatMap(({ id, isLearner }) => (isLearner ? [id] : [])));
  return statusesIn(seen).flatMap(({ memberId }) => (learners.has(memberId) ? [] : [memberId]));
}

function asked(seen: Observation, more: Partial<Parameters<typeof askAuth>[0]> = {}) {
  return askAuth({ clusterId: clusterIn(seen), memberIds: votersIn(seen), ...more });
}

/** Each is made, and made again, and etcd's revision is asked for after each. */
function* changed(seen: Observation, ...changes: readonly AuthChange[]): Program<unknown> {
  const answers: unknown[] = [];
  for (const change of changes.flatMap((one) => [one, one])) {
    yield* changeAuth({ clusterId: clusterIn(seen), change });
    answers.push(yield* asked(seen));
  }
  return answers;
}

function* refusedAfter(seen: Observation, ...changes: readonly AuthChange[]): Program {
  for (const change of changes) yield* changeAuth({ clusterId: clusterIn(seen), change });
}

interface Changed extends Pick<Contract, 'when' | 'differs'> {
  readonly from?: Users;
  readonly changes: readonly AuthChange[];
}

const made: readonly Changed[] = [
  { when: 'a role is added', changes: [{ op: 'add-role', role: 'writer' }] },
  { when: 'a role is deleted that a user has', changes: [{ op: 'delete-role', role: 'reader' }] },
  {
    when: 'a right is granted, before another one and behind it',
    changes: [
      { op: 'grant-right', role: 'reader', right: right('Write', '/z') },
      { op: 'grant-right', role: 'reader', right: right('ReadWrite', '/a', '/b') },
    ],
  },
  {
    when: 'a right is granted anew with another access',
    changes: [
      { op: 'grant-right', role: 'reader', right: right('ReadWrite', '/b', '/c') },
      { op: 'grant-right', role: 'reader', right: right('Write', '/b', '/c') },
    ],
  },
  {
    when: 'a right is granted from the key of another one',
    changes: [
      { op: 'grant-right', role: 'reader', right: right('ReadWrite', '/b') },
      { op: 'grant-right', role: 'reader', right: right('Read', '/b') },
      { op: 'grant-right', role: 'reader', right: right('Write', '/b', '/c') },
      // etcd has it twice then.
      { op: 'grant-right', role: 'reader', right: right('ReadWrite', '/b') },
      { op: 'grant-right', role: 'reader', right: right('Write', '/b') },
      { op: 'revoke-right', role: 'reader', range: range('/b') },
    ],
  },
  {
    when: 'a right is revoked, and one that the role does not have',
    changes: [
      { op: 'revoke-right', role: 'reader', range: range('/b', '/c') },
      { op: 'revoke-right', role: 'reader', range: range('/b') },
      { op: 'revoke-right', role: 'writer', range: range('/b') },
    ],
  },
  { when: 'a user is added', changes: [{ op: 'add-user', user: 'bob' }] },
  { when: 'a user is deleted that has a role', changes: [{ op: 'delete-user', user: 'amy' }] },
  {
    when: 'a role is given to a user',
    changes: [
      { op: 'grant-role', user: 'amy', role: 'spare' },
      { op: 'grant-role', user: 'amy', role: 'root' },
    ],
  },
  {
    when: 'a role is taken from a user, and one that the user does not have',
    changes: [
      { op: 'revoke-role', user: 'amy', role: 'reader' },
      { op: 'revoke-role', user: 'amy', role: 'spare' },
      { op: 'revoke-role', user: 'bob', role: 'reader' },
    ],
  },
  { when: 'it is turned on', changes: [{ op: 'enable' }] },
  { when: 'it is turned off', from: on, changes: [{ op: 'disable' }] },
  {
    when: 'it is on, and users and roles are changed',
    from: on,
    changes: [
      { op: 'add-role', role: 'writer' },
      { op: 'grant-right', role: 'writer', right: right('Write', '/b') },
      { op: 'add-user', user: 'bob' },
      { op: 'grant-role', user: 'bob', role: 'writer' },
      { op: 'revoke-role', user: 'amy', role: 'reader' },
      { op: 'delete-role', role: 'reader' },
      { op: 'delete-user', user: 'amy' },
    ],
  },
  {
    when: 'it is off, and root goes',
    changes: [
      { op: 'revoke-role', user: 'root', role: 'root' },
      { op: 'delete-user', user: 'root' },
      { op: 'delete-role', role: 'root' },
    ],
  },
  {
    when: 'there was nothing at all',
    from: {},
    changes: [
      { op: 'add-role', role: 'root' },
      { op: 'add-user', user: 'root' },
      { op: 'grant-role', user: 'root', role: 'root' },
      { op: 'enable' },
    ],
    differs: { because: 'from 3.6 on that role has all keys', not: ['left.auth.content.roles.root'] },
  },
];

const refused: readonly (Changed & { readonly why: 'NoSuchUser' | 'NoSuchRole' | 'RootNeeded' })[] = [
  {
    when: 'a right is granted to no role',
    changes: [{ op: 'grant-right', role: 'writer', right: right('Read', '/b') }],
    why: 'NoSuchRole',
  },
  {
    when: 'a role is given to no user',
    changes: [{ op: 'grant-role', user: 'bob', role: 'reader' }],
    why: 'NoSuchUser',
  },
  {
    when: 'a user is given no role',
    changes: [{ op: 'grant-role', user: 'amy', role: 'writer' }],
    why: 'NoSuchRole',
  },
  { when: 'it is turned on without a user root', from: {}, changes: [{ op: 'enable' }], why: 'RootNeeded' },
  {
    when: 'it is turned on, and root does not have its role',
    changes: [{ op: 'revoke-role', user: 'root', role: 'root' }, { op: 'enable' }],
    why: 'RootNeeded',
  },
  {
    when: 'it is on, and root is deleted',
    from: on,
    changes: [{ op: 'delete-user', user: 'root' }],
    why: 'RootNeeded',
  },
  {
    when: 'it is on, and the role root is deleted',
    from: on,
    changes: [{ op: 'delete-role', role: 'root' }],
    why: 'RootNeeded',
  },
  {
    when: 'it is on, and root loses its role',
    from: on,
    changes: [{ op: 'revoke-role', user: 'root', role: 'root' }],
    why: 'RootNeeded',
  },
];

const [first, ...others] = made;
if (!first) throw new Error('no change is tried');

const secretOf = { root: 'orders-reconciler-tls', applications: 'orders-client-tls' } as const;

const withLeaf =
  (name: string, isWhole = true) =>
  async (scene: Scene) => {
    await member(scene, { upTo: 'peer' });
    const { made: signer } = await authority(scene, 'client');
    await leaf(scene, await planOf(scene, name), signer, { isWhole });
  };

export const auth = {
  askAuth: onEachMinor((version) => [
    { when: 'all say the same', start: steady(version), asks: (seen) => asked(seen) },
    { when: 'it is on', ...guarded(version, on), asks: (seen) => asked(seen) },
    { when: 'it is off', ...guarded(version, some), asks: (seen) => asked(seen) },
    {
      when: 'one of them does not answer',
      start: steady(version),
      asks: (seen) => asked(seen, { memberIds: [...votersIn(seen), unknownMember] }),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'no voter is left',
      start: steady(version),
      asks: (seen) => asked(seen, { memberIds: [] }),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: (seen) => asked(seen, { clusterId: wrongCluster }),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'no quorum answers',
      start: bereft(version),
      asks: (seen) => asked(seen),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'no member answers',
      start: silent,
      asks: (seen) => asked(seen, { memberIds: [unknownMember] }),
      refused: 'precondition WorldMoved',
    },
  ]),
  changeAuth: onEachMinor((version) => {
    const contractOf = ({ from = some, changes, ...more }: Changed): Contract => ({
      ...more,
      ...guarded(version, from),
      asks: (seen) => changed(seen, ...changes),
    });
    return [
      contractOf(first),
      ...others.map(contractOf),
      ...refused.map(
        ({ when, from = some, changes, why }): Contract => ({
          when,
          ...guarded(version, from),
          asks: (seen) => refusedAfter(seen, ...changes),
          refused: `precondition ${why}`,
        }),
      ),
      ...whenNotServed(version, (clusterId) => changeAuth({ clusterId, change: { op: 'disable' } }), {
        changes: true,
      }),
    ];
  }),
  requireLogin: [
    {
      when: 'its certificate has the name of the user',
      tls: managed,
      start: withLeaf(secretOf.root),
      asks: () => requireLogin({ user: 'root', secretName: secretOf.root }),
    },
    {
      when: 'its certificate has another name',
      tls: managed,
      start: withLeaf(secretOf.applications),
      asks: () => requireLogin({ user: 'root', secretName: secretOf.applications }),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'there is no such Secret',
      tls: managed,
      start: (scene) => member(scene, { upTo: 'peer' }),
      asks: () => requireLogin({ user: 'root', secretName: secretOf.root }),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'the Secret cannot be read',
      tls: managed,
      start: withLeaf(secretOf.root, false),
      asks: () => requireLogin({ user: 'root', secretName: secretOf.root }),
      refused: 'precondition WorldMoved',
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
