import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuthSpec } from '../../../manifests/api/auth-settings.ts';
import { authAfter } from '../../../reconcile/cluster/act/requests/auth-model.ts';
import { changesTo, type Made } from '../../../reconcile/cluster/know/auth/changes.ts';
import { madeAfter } from '../../../reconcile/cluster/know/auth/made.ts';
import { rightOf, wordsOf } from '../../../reconcile/cluster/know/auth/ranges.ts';
import { rightsChanged } from '../../../reconcile/cluster/know/auth/rights-changed.ts';
import { namesIn, wordsOfChange } from '../../../reconcile/cluster/know/auth/told.ts';
import { hashOfWanted, type WantedAuth, wantedAuth } from '../../../reconcile/cluster/know/auth/wanted.ts';
import type { AuthContent, KnownAuth } from '../../../reconcile/cluster/know/observation.ts';
import type { AuthChange, Right } from '../../../reconcile/interfaces/etcd-auth.ts';
import { healthy } from './observations.ts';

/** Changes of etcd's users, their order, and their words. */

const none: AuthContent = { users: {}, roles: {}, others: { users: [], roles: [] } };
const nothingMade: Made = { users: [], roles: [] };
const list: Pick<AuthSpec, 'users' | 'roles'> = {
  users: [{ name: 'reader', roles: ['reads'] }],
  roles: [{ name: 'reads', rights: [{ prefix: '/a/', access: 'Read' }] }],
};
const reads = rightOf({ prefix: '/a/', access: 'Read' });
const writes = rightOf({ prefix: '/a/', access: 'Write' });
const both = rightOf({ prefix: '/a/', access: 'ReadWrite' });

describe('changes of users and roles', () => {
  test('make root first, and a role before the user that gets it', () => {
    assert.deepEqual(told(changesTo(wanted(list), none, nothingMade)), [
      'adds role root',
      'adds role reads',
      'lets role reads read "/a/"*',
      'adds user root',
      'gives user root the role root',
      'adds user reader',
      'gives user reader the role reads',
    ]);
  });

  test('are none where all is there', () => {
    const after = carriedOut(none, changesTo(wanted(list), none, nothingMade));
    assert.deepEqual(changesTo(wanted(list), after, nothingMade), []);
  });

  test('take nothing from root and from our own user, whatever else others gave them', () => {
    const ours = { root: ['root', 'spare'], 'orders-reconciler': ['spare'] };
    const seen = { ...none, users: ours, roles: { root: [both], spare: [] } };
    const asked = wanted({});
    const named = {
      ...asked,
      own: 'orders-reconciler',
      users: new Map([...asked.users, ['orders-reconciler', ['root']]]),
    };
    const made = { users: Object.keys(ours), roles: ['root'] };
    assert.deepEqual(told(changesTo(named, seen, made)), ['gives user orders-reconciler the role root']);
  });

  test('delete what etcd-ratchet made and the spec does not list, and nothing else', () => {
    const seen = {
      ...none,
      users: { root: ['root'], old: [], mallory: [] },
      roles: { root: [], spare: [], theirs: [] },
    };
    const made = { users: ['old', 'root', 'gone'], roles: ['root', 'spare', 'gone'] };
    assert.deepEqual(told(changesTo(wanted({}), seen, made)), ['deletes user old', 'deletes role spare']);
  });

  test('give before they take, also where a role gets another access to the same keys', () => {
    const seen = {
      ...none,
      users: { root: ['root'], reader: ['was', 'swaps'] },
      roles: { root: [], was: [both], swaps: [reads], spare: [both] },
    };
    const next = wanted({
      users: [{ name: 'reader', roles: ['was', 'is', 'swaps'] }],
      roles: [
        { name: 'was', rights: [{ prefix: '/a/', access: 'Read' }] },
        { name: 'is', rights: [{ prefix: '/a/', access: 'ReadWrite' }] },
        { name: 'swaps', rights: [{ prefix: '/a/', access: 'Write' }] },
      ],
    });
    const changes = changesTo(next, seen, nothingMade);
    assert.deepEqual(told(changes), [
      'adds role is',
      'lets role is read and write "/a/"*',
      'lets role swaps read and write "/a/"*',
      'gives user reader the role is',
      'lets role was read "/a/"*',
      'lets role swaps write "/a/"*',
    ]);
    const after = carriedOut(seen, changes);
    assert.deepEqual(changesTo(next, after, nothingMade), []);
    assert.deepEqual([after.roles.was, after.roles.swaps], [[reads], [writes]]);
  });

  test('take roles and rights that are not listed, of listed users and roles only', () => {
    const seen = {
      ...none,
      users: { root: ['root'], reader: ['reads', 'theirs'], mallory: ['theirs'] },
      roles: { root: [], reads: [reads, rightOf({ key: '/b', access: 'Read' })], theirs: [both] },
    };
    assert.deepEqual(told(changesTo(wanted(list), seen, nothingMade)), [
      'takes the role theirs from user reader',
      'takes "/b" from role reads',
    ]);
  });

  test('name users and roles once, and none for authentication itself', () => {
    assert.deepEqual(
      namesIn([{ op: 'enable' }, { op: 'add-user', user: 'a' }, { op: 'grant-role', user: 'a', role: 'b' }]),
      ['a'],
    );
  });
});

describe('what status knows of users', () => {
  test('is all that is listed, and what was listed before as long as it is there', () => {
    const made = { users: ['gone', 'old'], roles: ['gone', 'spare'] };
    const seen = { ...none, users: { old: [] }, roles: { spare: [] } };
    assert.deepEqual(madeAfter(made, wanted(list), seen), {
      users: ['old', 'reader', 'root'],
      roles: ['reads', 'root', 'spare'],
    });
    assert.deepEqual(madeAfter(made, wanted({}), undefined), {
      users: ['gone', 'old', 'root'],
      roles: ['gone', 'root', 'spare'],
    });
  });

  test('is another word for each other wish', () => {
    const words = [wanted(list), wanted({}), { ...wanted(list), own: 'a' }, { ...wanted(list), enabled: false }].map(
      hashOfWanted,
    );
    assert.equal(new Set(words).size, words.length);
    assert.equal(hashOfWanted(wanted(list)), words[0]);
  });
});

describe('a right', () => {
  test('is the range of keys that etcd makes of it', () => {
    const ranges = [{ prefix: '/a/' }, { prefix: '' }, { key: '/a' }, { range: { from: '/a', to: '/c' } }].map(
      (keys) => {
        const { key, rangeEnd } = rightOf({ ...keys, access: 'Read' });
        return [key, rangeEnd].map((one) => Buffer.from(one, 'base64').toString('latin1'));
      },
    );
    assert.deepEqual(ranges, [
      ['/a/', '/a0'],
      ['\0', '\0'],
      ['/a', ''],
      ['/a', '/c'],
    ]);
  });

  test('is told as people say it', () => {
    const words = [
      rightOf({ prefix: '/a/', access: 'Read' }),
      rightOf({ prefix: '', access: 'Read' }),
      rightOf({ key: '/a', access: 'Read' }),
      rightOf({ range: { from: '/a', to: '/c' }, access: 'Read' }),
      { key: Buffer.from('/a').toString('base64'), rangeEnd: Buffer.from([0]).toString('base64') },
    ].map(wordsOf);
    assert.deepEqual(words, ['"/a/"*', 'all keys', '"/a"', '"/a" to before "/c"', '"/a" and all after it']);
  });

  test('to the same keys twice is one to do both', () => {
    const twice = wanted({
      roles: [
        {
          name: 'a',
          rights: [
            { prefix: '/a/', access: 'Read' },
            { prefix: '/a/', access: 'Write' },
          ],
        },
      ],
    });
    assert.deepEqual(twice.roles.get('a'), [both]);
  });
});

describe('a plan of users', () => {
  test('says who gains and who loses what, by all roles together', () => {
    const before = content({ old: ['a'], stays: ['a', 'b'], narrower: ['b'] }, { a: [reads], b: [both] });
    const after = content({ stays: ['b'], narrower: ['a'], new: ['b'], boss: ['root'] }, { a: [reads], b: [both] });
    assert.deepEqual(changed(known(before, true), known(after, true)), [
      { who: 'user boss, which is new', gains: 'everything, also users and members' },
      { who: 'user narrower', loses: 'write "/a/"*' },
      { who: 'user new, which is new', gains: 'read "/a/"*; write "/a/"*' },
      { who: 'user old, which is deleted', loses: 'read "/a/"*' },
    ]);
  });

  test('says what turning authentication on or off means for all others', () => {
    assert.deepEqual(changed(known(none, false), known(none, true)), [
      { who: 'each client whose certificate is of no user', loses: 'all keys' },
    ]);
    assert.deepEqual(changed(known(none, true), known(none, false)), [
      { who: 'each client with a certificate', gains: 'all keys' },
    ]);
    assert.deepEqual(changed(known(none, true), { kind: 'known', enabled: true, revision: '1' }), []);
  });

  test('says what each user keeps where authentication is turned on, and nothing while it is off', () => {
    const users = content({ reader: ['a'], idle: [], boss: ['root'] }, { a: [reads] });
    assert.deepEqual(changed(known(none, false), known(users, true)), [
      { who: 'each client whose certificate is of no user', loses: 'all keys' },
      { who: 'user idle', loses: 'all keys' },
      { who: 'user reader', loses: 'all keys but what it keeps: read "/a/"*' },
    ]);
    assert.deepEqual(changed(known(none, false), known(users, false)), []);
  });

  test('says of a role that it is widened, also where no listed user has it', () => {
    const [before, after] = [content({}, { a: [reads] }), content({}, { a: [both] })];
    assert.deepEqual(changed(known(before, true), known(after, true)), [{ who: 'role a', gains: 'write "/a/"*' }]);
  });

  test('tells ranges apart whose words are alike', () => {
    const long = 'x'.repeat(100);
    for (const [had, has] of [
      [{ key: '/orders/*' }, { prefix: '/orders/' }],
      [{ key: 'all keys' }, { prefix: '' }],
      [{ key: '/a to before /z' }, { range: { from: '/a', to: '/z' } }],
      [{ prefix: `/t/${long}/mine/${long}` }, { prefix: `/t/${long}/ours/${long}` }],
    ]) {
      const [before, after] = [had, has].map((one) =>
        content({ u: ['a'] }, { a: [rightOf({ ...one, access: 'Read' })] }),
      );
      assert.ok(before && after);
      const [, row] = changed(known(before, true), known(after, true));
      assert.equal(row?.who, 'user u');
      assert.ok(row.gains && row.loses && row.gains !== row.loses, JSON.stringify(row));
    }
  });

  test('writes invisible characters as their numbers, and bytes that are no text in hex', () => {
    assert.equal(
      wordsOf(rightOf({ key: '/a\u009b2J\u202e/\u200b', access: 'Read' })),
      '"/a\\\\u009b2J\\\\u202e/\\\\u200b"',
    );
    const bytes = { key: Buffer.from([0xff, 1]).toString('base64'), rangeEnd: '' };
    assert.equal(wordsOf(bytes), '"0xff01"');
  });
});

function wanted(lists: Pick<AuthSpec, 'users' | 'roles'>): WantedAuth {
  const found = wantedAuth({ mode: 'Enabled', ...lists }, { cluster: healthy(1).cluster, slots: [] }, 'Managed');
  return found ?? assert.fail('users are not kept');
}

function carriedOut(seen: AuthContent, changes: readonly AuthChange[]): AuthContent {
  return changes.reduce(authAfter, known(seen, false)).content ?? assert.fail();
}

function known(seen: AuthContent, enabled: boolean): KnownAuth {
  return { kind: 'known', enabled, revision: '1', content: seen };
}

function content(users: AuthContent['users'], roles: Readonly<Record<string, readonly Right[]>>): AuthContent {
  return { ...none, users, roles };
}

function changed(before: KnownAuth, after: KnownAuth) {
  return rightsChanged({ ...healthy(1), auth: before }, { ...healthy(1), auth: after });
}

function told(changes: readonly AuthChange[]): readonly string[] {
  return changes.map(wordsOfChange);
}
