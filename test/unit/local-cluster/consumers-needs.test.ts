import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Machine, needConsumers } from '../../support/cluster/consumers/needs.ts';

const whole: Machine = {
  hasProgram: (path) => path.startsWith('/usr/lib/postgresql/17/bin/') || path === '/usr/bin/unshare',
  directories: ['/usr/lib/postgresql/17/bin', '/usr/lib/postgresql/15/bin', '/usr/bin'],
  hasVenv: true,
};

test('a machine that has all that consumers need tells where PostgreSQL is', () => {
  assert.deepEqual(needConsumers(whole), { postgresql: '/usr/lib/postgresql/17/bin' });
  const other = (path: string) => path.startsWith('/usr/lib/postgresql/15/bin/') || path === '/usr/bin/unshare';
  assert.deepEqual(needConsumers({ ...whole, hasProgram: other }), { postgresql: '/usr/lib/postgresql/15/bin' });
});

test('a directory with the client’s programs alone is not PostgreSQL', () => {
  const client = (path: string) => /\/(pg_isready|pg_basebackup|unshare)$/.test(path);
  assert.throws(() => needConsumers({ ...whole, hasProgram: client }), {
    name: 'ProvisionError',
    message: /does not have: PostgreSQL \(postgres, initdb, .*\): apt-get install postgresql$/,
  });
});

for (const [what, lacks, message] of [
  ['venv', { hasVenv: false }, /does not have: python3 with its modules .*: apt-get install python3-venv$/],
  [
    'any of it',
    { hasVenv: false, hasProgram: () => false },
    /PostgreSQL .*; python3 .*; unshare: apt-get install postgresql python3-venv util-linux$/,
  ],
] as const)
  test(`a machine without ${what} is told what to install`, () => {
    assert.throws(() => needConsumers({ ...whole, ...lacks }), { name: 'ProvisionError', message });
  });
