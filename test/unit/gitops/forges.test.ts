import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openForge, validateForge } from '../../../gitops/forges/forges.ts';
import { encodedPath, repositoryOf } from '../../../gitops/forges/repository.ts';
import { retryAtOf } from '../../../gitops/forges/retry-after.ts';

for (const [type, gitUrl, expected] of [
  ['GitHub', 'https://github.com/o/r.git', 'https://api.github.com'],
  ['GitHub', 'https://acme.ghe.com/o/r', 'https://api.acme.ghe.com'],
  ['GitHub', 'https://git.example.com/o/r.git', 'https://git.example.com/api/v3'],
  ['Gitea', 'https://git.example.com/o/r.git', 'https://git.example.com/api/v1'],
  ['Forgejo', 'https://example.com:3000/forge/o/r/', 'https://example.com:3000/forge/api/v1'],
] as const) {
  test(`the API of ${type} for ${gitUrl} is ${expected}`, () => {
    assert.equal(openForge(type, { gitUrl, credentials: { kind: 'token', token: 't' } }).address, expected);
  });
}

test('owner and name come from the end of the URL, and are encoded again', () => {
  const repository = repositoryOf('https://git.example.com/a%20b/r.x.git');
  assert.deepEqual([repository.owner, repository.name], ['a b', 'r.x']);
  assert.equal(encodedPath([repository.owner, repository.name]), '/a%20b/r.x');
});

for (const [forge, gitUrl, expected] of [
  [{ type: 'GitLab' }, 'https://g.example.com/o/r', /"GitLab" is not known: use GitHub, Gitea, Forgejo/],
  [{ type: 'constructor' }, 'https://g.example.com/o/r', /not known/],
  [{ type: 'Gitea' }, 'https://g.example.com/r.git', /must end in \/<owner>\/<name>/],
  [{ type: 'Gitea', apiUrl: 'ftp://x' }, 'https://g.example.com/o/r', /must be an HTTPS URL/],
  [
    { type: 'Gitea', apiUrl: 'https://a:hunter2@x' },
    'https://g.example.com/o/r',
    /^[^;]*holds credentials(?!.*hunter2)/,
  ],
  [{ type: 'Gitea', apiUrl: 'https://x/?a' }, 'https://g.example.com/o/r', /query/],
] as const) {
  test(`${JSON.stringify(forge)} for ${gitUrl} is refused`, () => {
    assert.match(validateForge(forge, gitUrl).join('; '), expected);
  });
}

test('a good forge has no problems', () => {
  assert.deepEqual(validateForge({ type: 'Gitea', apiUrl: 'https://x/api/v1' }, 'https://g.example.com/o/r.git'), []);
});

const now = Date.parse('2026-01-01T00:00:00Z');

for (const [name, answer, expected] of [
  ['seconds', { headers: { 'retry-after': '7' } }, now + 7000],
  ['a date', { headers: { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' } }, now + 60_000],
  ['a date gone by', { headers: { 'retry-after': 'Thu, 01 Jan 2020 00:01:00 GMT' } }, now],
  ['nonsense', { headers: { 'retry-after': 'soon' } }, undefined],
  [
    'GitHub’s exhausted limit',
    { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 90) } },
    now + 90_000,
  ],
  ['a limit with calls left', { headers: { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '9' } }, undefined],
  ['GitHub’s secondary limit', { body: '{"message":"You have exceeded a secondary rate limit"}' }, now + 60_000],
  ['nothing', {}, undefined],
] as const) {
  test(`asked to come back by ${name}`, () => {
    assert.equal(retryAtOf({ status: 403, headers: {}, body: '', ...answer }, now), expected);
  });
}
