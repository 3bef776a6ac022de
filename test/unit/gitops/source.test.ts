import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathSegments, validateSource } from '../../../gitops/git/source.ts';

const good = { url: 'https://git.example.com/team/etcd.git', ref: 'main', path: 'clusters/prod' };

for (const change of [
  {},
  { url: 'http://gitea.git.svc:3000/team/etcd' },
  { url: 'https://git.example.com:8443/team/etcd.git' },
  { path: '' },
  { path: '.' },
  { path: 'a/./b/' },
  { path: 'with..dots/..x' },
  { ref: 'refs/pull/3/head' },
  { ref: 'release/3.6' },
  { ref: '0123456789abcdef0123456789abcdef01234567' },
]) {
  test(`a source with ${JSON.stringify(change)} can be used`, () => {
    assert.deepEqual(validateSource({ ...good, ...change }), []);
  });
}

for (const [change, expected] of [
  [{ url: 'git@github.com:o/r.git' }, /SSH is not supported: use an HTTPS URL/],
  [{ url: 'github.com:o/r.git' }, /SSH is not supported/],
  [{ url: 'ssh://git@github.com/o/r.git' }, /SSH is not supported/],
  [{ url: 'git://github.com/o/r.git' }, /git:\/\/ is not supported: use an HTTPS URL/],
  [{ url: 'file:///etc/passwd' }, /file:\/\/ is not supported/],
  [{ url: '/srv/git/r.git' }, /no scheme/],
  [{ url: '' }, /url is empty/],
  [{ url: 'https://' }, /cannot be parsed/],
  [{ url: 'https://git.example.com/r.git?x=1' }, /query/],
  [{ ref: '' }, /ref is empty/],
  [{ ref: 'a b' }, /not a valid ref name/],
  [{ ref: 'a..b' }, /not a valid ref name/],
  [{ ref: '-x' }, /not a valid ref name/],
  [{ ref: 'main^' }, /not a valid ref name/],
  [{ path: '/etc' }, /absolute/],
  [{ path: '../x' }, /leads out/],
  [{ path: 'a/../../x' }, /leads out/],
  [{ path: 'a\\b' }, /backslash/],
  [{ path: 'a\nb' }, /control character/],
] as const) {
  test(`a source with ${JSON.stringify(change)} is refused`, () => {
    const [problem, ...more] = validateSource({ ...good, ...change });
    assert.match(problem ?? '', expected);
    assert.deepEqual(more, []);
  });
}

test('credentials in the URL are refused, without repeating them', () => {
  const problems = validateSource({ ...good, url: 'https://ada:hunter2@git.example.com/r.git' });
  assert.match(problems.join(), /put them into a Secret/);
  assert.doesNotMatch(problems.join(), /hunter2/);
});

test('a path is read as names', () => {
  assert.deepEqual(pathSegments('./a//b/'), ['a', 'b']);
  assert.deepEqual(pathSegments('.'), []);
});
