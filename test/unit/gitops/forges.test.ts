import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAtOf } from '../../../gitops/forges/answer.ts';
import { openForge, validateForge } from '../../../gitops/forges/forges.ts';
import { encodedPath, repositoryOf } from '../../../gitops/forges/repository.ts';

for (const [type, gitUrl, expected] of [
  ['GitHub', 'https://github.com/o/r.git', 'https://api.github.com'],
  ['GitHub', 'https://acme.ghe.com/o/r', 'https://api.acme.ghe.com'],
  ['GitHub', 'https://git.example.com/o/r.git', 'https://git.example.com/api/v3'],
  ['Gitea', 'https://git.example.com/o/r.git', 'https://git.example.com/api/v1'],
  ['Forgejo', 'https://example.com:3000/forge/o/r/', 'https://example.com:3000/forge/api/v1'],
  ['GitLab', 'https://gitlab.com/group/sub/project.git', 'https://gitlab.com/api/v4'],
  ['BitbucketCloud', 'https://bitbucket.org/team/etcd.git', 'https://api.bitbucket.org/2.0'],
  ['BitbucketDataCenter', 'https://example.com/scm/KEY/etcd.git', 'https://example.com/rest/api/latest'],
  ['BitbucketDataCenter', 'https://example.com/git/scm/~me/etcd.git', 'https://example.com/git/rest/api/latest'],
  ['AzureDevOps', 'https://dev.azure.com/org/project/_git/etcd', 'https://dev.azure.com/org'],
  ['AzureDevOps', 'https://dev.azure.com/org/_git/etcd', 'https://dev.azure.com/org'],
  ['AzureDevOps', 'https://org.visualstudio.com/project/_git/etcd', 'https://org.visualstudio.com'],
  [
    'AzureDevOps',
    'https://org.visualstudio.com/DefaultCollection/project/_git/etcd',
    'https://org.visualstudio.com/DefaultCollection',
  ],
  ['AzureDevOps', 'https://tfs.example.com/tfs/Main/project/_git/etcd', 'https://tfs.example.com/tfs/Main'],
] as const) {
  test(`the API of ${type} for ${gitUrl} is ${expected}`, () => {
    assert.equal(openForge(type, { gitUrl, credentials: { kind: 'token', token: 't' } }).address, expected);
  });
}

const sha = 'ab'.repeat(20);

for (const [type, gitUrl, apiURL, expected] of [
  ['GitHub', 'https://github.com/o/r.git', undefined, 'https://github.com/o/r/commit/'],
  ['GitLab', 'https://x.example.com/g/s/p.git', undefined, 'https://x.example.com/g/s/p/-/commit/'],
  // GitLab below a path: only its API's address tells that from a group.
  [
    'GitLab',
    'https://x.example.com/git/g/p.git',
    'https://x.example.com/git/api/v4/',
    'https://x.example.com/git/g/p/-/commit/',
  ],
  [
    'GitLab',
    'https://x.example.com/g/p.git',
    'https://api.example.com/git/api/v4',
    'https://x.example.com/g/p/-/commit/',
  ],
  ['BitbucketCloud', 'https://bitbucket.org/t/r.git', undefined, 'https://bitbucket.org/t/r/commits/'],
  ['BitbucketDataCenter', 'https://x/scm/KEY/r.git', undefined, 'https://x/projects/KEY/repos/r/commits/'],
  ['AzureDevOps', 'https://dev.azure.com/o/p/_git/r', undefined, 'https://dev.azure.com/o/p/_git/r/commit/'],
  ['AzureDevOps', 'https://dev.azure.com/o/_git/r', undefined, 'https://dev.azure.com/o/r/_git/r/commit/'],
  ['AzureDevOps', 'https://x/tfs/c/_git/r', 'https://x/tfs/c', 'https://x/tfs/c/r/_git/r/commit/'],
] as const) {
  test(`a commit of ${gitUrl} is shown below ${expected}`, () => {
    const credentials = { kind: 'token', token: 't' } as const;
    const forge = openForge(type, { gitUrl, credentials, ...(apiURL && { apiURL }) });
    assert.equal(forge.commitUrl(sha), `${expected}${sha}`);
  });
}

test('owner and name come from the end of the URL, and are encoded again', () => {
  const repository = repositoryOf('https://git.example.com/a%20b/r.x.git');
  assert.deepEqual([repository.owner, repository.name], ['a b', 'r.x']);
  assert.equal(encodedPath([repository.owner, repository.name]), '/a%20b/r.x');
});

for (const [forge, gitUrl, expected] of [
  [{ type: 'Sourcehut' }, 'https://g.example.com/o/r', /"Sourcehut" is not known: use GitHub, GitLab, Gitea, Forgejo,/],
  [{ type: 'GitLab' }, 'https://g.example.com/r.git', /must end in \/<group>\/<project>/],
  [{ type: 'BitbucketCloud' }, 'https://bitbucket.org/r.git', /must end in \/<owner>\/<name>/],
  [{ type: 'BitbucketDataCenter' }, 'https://g.example.com/KEY/r.git', /must end in \/scm\/<project>\/<repository>/],
  [{ type: 'AzureDevOps' }, 'https://dev.azure.com/o/p/r', /must end in \/<project>\/_git\/<repository>/],
  [{ type: 'constructor' }, 'https://g.example.com/o/r', /not known/],
  [{ type: 'Gitea' }, 'https://g.example.com/r.git', /must end in \/<owner>\/<name>/],
  [{ type: 'Gitea', apiURL: 'ftp://x' }, 'https://g.example.com/o/r', /must be an HTTPS URL/],
  [
    { type: 'Gitea', apiURL: 'https://a:hunter2@x' },
    'https://g.example.com/o/r',
    /^[^;]*holds credentials(?!.*hunter2)/,
  ],
  [{ type: 'Gitea', apiURL: 'https://x/?a' }, 'https://g.example.com/o/r', /query/],
] as const) {
  test(`${JSON.stringify(forge)} for ${gitUrl} is refused`, () => {
    assert.match(validateForge(forge, gitUrl).join('; '), expected);
  });
}

test('a good forge has no problems', () => {
  assert.deepEqual(validateForge({ type: 'Gitea', apiURL: 'https://x/api/v1' }, 'https://g.example.com/o/r.git'), []);
});

const now = Date.parse('2026-01-01T00:00:00Z');

for (const [name, answer, expected] of [
  ['seconds', { headers: { 'retry-after': '7' } }, now + 7000],
  ['a date', { headers: { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' } }, now + 60_000],
  ['a date gone by', { headers: { 'retry-after': 'Thu, 01 Jan 2020 00:01:00 GMT' } }, now],
  ['nonsense', { headers: { 'retry-after': 'soon' } }, undefined],
  // No date can hold these; whoever told people of them died of it.
  ['more seconds than there are', { headers: { 'retry-after': '99999999999999999999' } }, now + 86_400_000],
  [
    'a limit that never ends',
    { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9'.repeat(400) } },
    now + 86_400_000,
  ],
  [
    'GitHub’s exhausted limit',
    { headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 90) } },
    now + 90_000,
  ],
  ['a limit with calls left', { headers: { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '9' } }, undefined],
  ['GitHub’s secondary limit', { body: '{"message":"You have exceeded a secondary rate limit"}' }, now + 60_000],
  [
    'abuse, as GitHub Enterprise Server calls it',
    {
      body: JSON.stringify({
        message: 'You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.',
        documentation_url: 'https://docs.github.com/enterprise/3.0/rest/overview#abuse-rate-limits',
      }),
    },
    now + 60_000,
  ],
  ['a page about something else', { body: '{"documentation_url":"https://docs.github.com/#rate"}' }, undefined],
  ['nothing', {}, undefined],
] as const) {
  test(`asked to come back by ${name}`, () => {
    assert.equal(retryAtOf({ status: 403, headers: {}, body: '', ...answer }, now), expected);
  });
}
