import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeRequests } from '../../../../gitops/forges/change-request.ts';

const told = {
  number: 17,
  title: 'one',
  url: 'https://git.example.com/pull/17',
  page: 'https://git.example.com',
  headSha: 'cd'.repeat(20),
  headRef: 'refs/pull/17/head',
  target: 'main',
  fork: false,
  draft: false,
  author: 100,
  labels: [],
};

test('a request is known by a number that people can say', () => {
  assert.equal(changeRequests(told)[0]?.number, '17');
  for (const number of [0, -1, 1.5, 1e21, 2 ** 53, Number.NaN])
    assert.deepEqual(changeRequests({ ...told, number }), []);
});
