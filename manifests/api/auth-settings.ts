import Type, { type Static } from 'typebox';
import { rule } from './rule.ts';
import { list, object, type ReadonlyDeep, text } from './schema.ts';

/** etcd's own users and roles, apart from those of Kubernetes. */

const mostUsers = 64;
const mostRoles = 32;
/**
 * So that etcd's answer about one role stays within what is read of it, 64 KiB, whatever the characters are, and also
 * while it has both the rights of before and those of now.
 */
const mostRights = 32;
const longestKey = 120;
const accesses = ['Read', 'Write', 'ReadWrite'] as const;

/** As the common name of a certificate and part of the name of its Secret: a label of DNS. */
const label = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$';

/** etcd's own: its user has all rights, and its role gives them. */
export const rootName = 'root';

const isLabel = rule<string>({
  message: 'must be lower-case letters, digits and "-", beginning and ending with a letter or digit',
  cel: `self.matches('${label}')`,
  holds: (value) => new RegExp(label, 'u').test(value),
});

const notRoot = rule<string>({
  message: `must not be ${rootName}: etcd-ratchet keeps that one itself`,
  cel: `self != '${rootName}'`,
  holds: (value) => value !== rootName,
});

/** As the certificate of etcd-ratchet says where the issuer is not the cluster's own. */
const notOurs = rule<string>({
  message: 'must not end in -reconciler: etcd-ratchet itself may be such a user',
  cel: `!self.endsWith('-reconciler')`,
  holds: (value) => !value.endsWith('-reconciler'),
});

interface GivenRight {
  readonly key?: string;
  readonly prefix?: string;
  readonly range?: { readonly from: string; readonly to: string };
}

const oneKind = rule<GivenRight>({
  message: 'name the keys in one way: prefix, key or range',
  cel: '(has(self.key) ? 1 : 0) + (has(self.prefix) ? 1 : 0) + (has(self.range) ? 1 : 0) == 1',
  holds: ({ key, prefix, range }) => [key, prefix, range].filter((one) => one !== undefined).length === 1,
});

/** etcd compares bytes, and those of UTF-8 are in the order of the characters. */
const isAscending = rule<{ readonly from: string; readonly to: string }>({
  message: 'to must come after from, and is not part of the range itself',
  cel: 'self.from < self.to',
  holds: ({ from, to }) => Buffer.compare(Buffer.from(from), Buffer.from(to)) < 0,
  fieldPath: '.to',
});

const rightSchema = object(
  {
    prefix: Type.Optional(
      text(longestKey, {
        description: 'All keys that begin so. Let it end in a separator: /a covers /aa as well. Empty: all keys.',
      }),
    ),
    key: Type.Optional(text(longestKey, { minLength: 1, description: 'One key.' })),
    range: Type.Optional(
      object(
        {
          from: text(longestKey, { minLength: 1, description: 'The first key.' }),
          to: text(longestKey, { minLength: 1, description: 'The key after the last one.' }),
        },
        { description: 'All keys between two, in the order of their bytes.', rules: [isAscending] },
      ),
    ),
    access: Type.Enum(accesses, { description: 'Read: also to watch. Write: to put and to delete.' }),
  },
  { rules: [oneKind] },
);

const roleSchema = object({
  name: text(63, { minLength: 1, description: 'Its name.', rules: [isLabel, notRoot] }),
  rights: Type.Optional(list(rightSchema, mostRights, { description: 'What it lets its users do, and nothing else.' })),
});

const userSchema = object({
  name: text(63, {
    minLength: 1,
    description:
      'Its name, which is the common name of its certificate. <cluster>-client is the one for applications, which has its Secret anyway; each other one gets a Secret <name>.<cluster>-user-tls.',
    rules: [isLabel, notRoot, notOurs],
  }),
  roles: Type.Optional(
    list(text(63, { rules: [isLabel] }), 16, {
      description: `Names of roles. ${rootName}, etcd's own, gives all rights, also over users and members.`,
    }),
  ),
});

interface Named {
  readonly name: string;
}

const rolesAreThere = rule<{
  readonly users?: readonly { readonly roles?: readonly string[] }[];
  readonly roles?: readonly Named[];
}>({
  message: 'a user has a role that auth.roles does not have',
  cel: `!has(self.users) || self.users.all(user, !has(user.roles) || user.roles.all(role, role == '${rootName}' || (has(self.roles) && self.roles.exists(one, one.name == role))))`,
  holds: ({ users = [], roles = [] }) => missingRoles(users, roles).length === 0,
  explain: ({ users = [], roles = [] }) => missingRoles(users, roles).join(', '),
  fieldPath: '.users',
});

function missingRoles(
  users: readonly { readonly roles?: readonly string[] }[],
  roles: readonly Named[],
): readonly string[] {
  const there = new Set([rootName, ...roles.map(({ name }) => name)]);
  return [...new Set(users.flatMap((user) => user.roles ?? []).filter((role) => !there.has(role)))];
}

/** A list of two that are named alike says two things of one. */
function namedOnce(field: 'users' | 'roles') {
  return rule<{ readonly users?: readonly Named[]; readonly roles?: readonly Named[] }>({
    message: `two of auth.${field} have one name`,
    cel: `!has(self.${field}) || self.${field}.all(one, self.${field}.exists_one(other, other.name == one.name))`,
    holds: (auth) => new Set(auth[field]?.map(({ name }) => name)).size === (auth[field]?.length ?? 0),
    fieldPath: `.${field}`,
  });
}

export const authSchema = object(
  {
    mode: Type.Enum(['Enabled', 'Disabled'], {
      description:
        "Whether etcd asks clients for their user. Disabled: it is turned off, and users and roles stay as they are. Without spec.auth etcd's authentication is left as it is.",
    }),
    users: Type.Optional(list(userSchema, mostUsers, { description: 'The users, each told by a certificate.' })),
    roles: Type.Optional(list(roleSchema, mostRoles, { description: 'What users can be given.' })),
  },
  {
    description:
      "etcd's users and roles. A user or role that is no longer listed is deleted; one that never was is named, and stays.",
    rules: [namedOnce('users'), namedOnce('roles'), rolesAreThere],
  },
);

export type AuthSpec = ReadonlyDeep<Static<typeof authSchema>>;
export type AuthRight = ReadonlyDeep<Static<typeof rightSchema>>;
