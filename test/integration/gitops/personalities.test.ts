import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkshop } from '../../../functions/read/work.ts';
import { withTokenAs } from '../../../gitops/forges/git-tokens.ts';
import { fetchTree } from '../../../gitops/git/fetch.ts';
import { connect } from '../../../gitops/git/http.ts';
import { termsOf } from '../../../gitops/git/info-refs.ts';
import { resolveRef } from '../../../gitops/git/resolve.ts';
import { readDocuments } from '../../../gitops/specs/documents.ts';
import { otherServers, type PersonalityName } from '../../support/git/personalities.ts';
import { type GitServer, startGitServer } from '../../support/git/server.ts';
import { localNetwork } from '../../support/network.ts';
import { specText } from '../../unit/gitops/specs.ts';
import { fleet } from '../../unit/serve/installation.ts';
import { inTime, source } from './scene.ts';

/** What was reported of each server is in support/git/personalities.ts; reported.test.ts asks whether it is played. */

const path = 'clusters';

async function stage(personality: PersonalityName) {
  const server = await startGitServer({ personality });
  const repository = await server.createRepository('group/project');
  await repository.commit({ 'clusters/a.yaml': specText('a'), 'media/large.bin': Buffer.alloc(100_000, 'x') });
  await repository.git('branch', 'asked', 'main');
  const head = await repository.commit({ 'clusters/b.yaml': specText('b') }, { branch: 'asked', keep: true });
  const target = await repository.commit({ 'clusters/a.yaml': specText('c') }, { keep: true });
  return { server, repository, url: repository.url, head, target, [Symbol.asyncDispose]: () => server.stop() };
}

async function namesAt(url: string, ref: string): Promise<string[]> {
  using git = connect(source(url, { ref, path }), {}, localNetwork);
  const tree = await fetchTree(git, await resolveRef(git, inTime()), inTime());
  const { documents } = await readDocuments(tree, path, {}, inTime());
  return documents.map(({ object }) => (object.metadata as { name: string }).name);
}

function posts({ requests }: GitServer): string[] {
  return requests.filter(({ method }) => method === 'POST').map(({ url }) => url);
}

for (const personality of otherServers) {
  test(`a branch and a commit are read, and a request is merged twice, from the server ${personality}`, async () => {
    await using at = await stage(personality);
    assert.deepEqual(await namesAt(at.url, 'main'), ['c']);
    assert.deepEqual(await namesAt(at.url, at.head), ['a', 'b']);
    const work = createWorkshop();
    const { metadata, spec } = fleet('production');
    const git = { url: at.url, ref: 'main', path };
    for (const head of [at.head, await at.repository.commit({}, { branch: 'asked', keep: true })]) {
      const answer = await work(
        {
          kind: 'merge',
          fleet: { metadata, spec: { ...spec, git } },
          source: source(at.url, { path }),
          head,
          target: at.target,
          targetBranch: 'main',
        },
        { signal: inTime(), onFile: () => undefined },
      );
      assert.equal(answer.kind, 'merge', JSON.stringify(answer));
      assert.partialDeepStrictEqual(answer, { touches: true, conflicts: [], trees: { kind: 'trees' } });
    }
  });
}

test('a server without version 2 is tried in it once, and in version 0 from then on', async () => {
  await using at = await stage('azure');
  await at.repository.git('config', 'uploadpack.allowReachableSHA1InWant', 'true');
  await namesAt(at.url, 'main');
  const versions = at.server.requests
    .filter(({ method }) => method === 'POST')
    .map(({ headers }) => headers['git-protocol']);
  assert.deepEqual(versions, ['version=2', undefined, undefined]);
});

test('a server that gives no single files in version 0 is asked for whole commits', async () => {
  await using at = await stage('azure');
  await namesAt(at.url, 'main');
  assert.equal(posts(at.server).length, 2);
});

test('where info/refs leads to, all other requests go, also where nothing is resolved', async () => {
  await using at = await stage('gitlab');
  await namesAt(at.url, 'main');
  using git = connect(source(at.url), {}, localNetwork);
  assert.equal((await termsOf(git, inTime())).base, `${at.url}.git`);
  assert.deepEqual(
    posts(at.server).filter((url) => !url.startsWith('/group/project.git/')),
    [],
  );
});

for (const [personality, type, isTaken] of [
  ['git', undefined, true],
  ['git', 'GitHub', true],
  ['bitbucketCloud', 'BitbucketCloud', true],
  ['bitbucketCloud', 'Gitea', false],
  ['bitbucketDataCenter', 'BitbucketDataCenter', true],
  ['bitbucketDataCenter', undefined, false],
] as const) {
  test(`a bare token for ${type ?? 'no forge'} is ${isTaken ? 'taken' : 'refused'} by ${personality}`, async () => {
    const token = 't0ken';
    await using server = await startGitServer({ personality, auth: { token } });
    const { url, ...repository } = await server.createRepository('group/project');
    await repository.commit({ 'clusters/a.yaml': specText('a') });
    const credentials = withTokenAs({ token }, url, type);
    using git = connect({ ...source(url, { path }), credentials }, {}, localNetwork);
    const resolved = resolveRef(git, inTime());
    if (isTaken) assert.ok((await resolved).sha);
    else await assert.rejects(resolved, { reason: 'AuthenticationFailed' });
  });
}

test('the forge that is at one host is known by it, and a user name of the Secret counts first', () => {
  const address = 'https://bitbucket.org/team/etcd.git';
  assert.deepEqual(withTokenAs({ token: 'x' }, address, undefined).tokenAs, { user: 'x-token-auth' });
  assert.deepEqual(withTokenAs({ token: 'x', username: 'ada' }, address, 'BitbucketCloud'), {
    token: 'x',
    username: 'ada',
  });
  assert.deepEqual(withTokenAs({ token: 'x' }, 'https://bitbucket.org.example.com/a.git', undefined), { token: 'x' });
});
