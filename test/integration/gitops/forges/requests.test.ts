import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { ChangeRequest } from '../../../../gitops/forges/forge.ts';
import { type RecordedRequest, type Recorder, replyJson, startRecorder } from '../../../support/git/recorder.ts';
import { head, inTime, type Kind, kindOf, kinds, open, sha, status } from './kinds.ts';
import { azureLocations, others } from './others.ts';

const request: ChangeRequest = {
  number: '17',
  title: 'one',
  url: 'https://forge.example.com/17',
  headSha: head,
  headRef: 'refs/pull/17/head',
  target: 'main',
  fork: false,
  draft: false,
  author: '100',
  labelled: false,
};
const marker = '<!-- etcd-ratchet production -->';
const ours = 7;

/** A forge with nothing in it, but for a comment of ours if asked. */
async function startForge(kind: Kind, comments: readonly { id: number; body: string; author: number }[] = []) {
  return await startRecorder((asked, response) => {
    if (asked.method === 'OPTIONS') return replyJson(response, azureLocations);
    if (asked.path.endsWith('/user')) return replyJson(response, { id: ours, login: 'etcd-ratchet' });
    if (asked.method === 'GET' && /\/(comments|notes)$/.test(asked.path)) {
      const told = comments.map(({ id, body, author }) => ({ id, body, user: { id: author }, author: { id: author } }));
      return replyJson(response, told);
    }
    if (kind.pageAsked(asked) !== undefined) return replyJson(response, kind.page([], true));
    return replyJson(response, {}, asked.method === 'POST' ? 201 : 200);
  });
}

/** What was asked of the matter itself, apart from who we are and where things are. */
function asked({ requests }: Recorder): RecordedRequest[] {
  return requests.filter(({ method, path }) => method !== 'OPTIONS' && !path.endsWith('/user'));
}

/** What a client sends that others wrote: it may dislike our empty answers. */
async function sent(server: Recorder, send: (url: string) => Promise<unknown>): Promise<RecordedRequest> {
  const before = asked(server).length;
  await send(server.url).catch(() => undefined);
  const request = asked(server)[before];
  assert.ok(request, 'the other client sent nothing');
  return request;
}

for (const kind of kinds) {
  const other = others[kind.type];

  test(`${kind.type}: a status is sent as another client sends it`, async () => {
    await using server = await startForge(kind);
    await open(kind, server.url).post(status, inTime());
    const [mine] = asked(server);
    const theirs = await sent(server, other.post);
    assert.equal(mine?.method, theirs.method);
    assert.equal(mine?.path, `${kind.apiPath}${kind.statusPath}`);
    assert.equal(mine?.path, theirs.path);
    assert.deepEqual(comparable(mine?.body), comparable(theirs.body));
    assert.equal(mine?.headers.authorization, kind.authorization);
    assert.match(mine?.headers['content-type'] ?? '', /^application\/json/);
  });

  test(`${kind.type}: open requests are asked for as another client asks for them`, async () => {
    await using server = await startForge(kind);
    assert.deepEqual((await open(kind, server.url).openRequests('main', inTime())).requests, []);
    const [mine] = asked(server);
    const theirs = await sent(server, other.openRequests);
    assert.equal(mine?.method, 'GET');
    assert.equal(mine?.path, `${kind.apiPath}${kind.requestsPath}`);
    assert.equal(mine?.path, theirs.path);
    for (const [name, value] of Object.entries(theirs.query)) {
      assert.equal(mine?.query[name], name === 'searchCriteria.status' ? 'active' : value, name);
    }
    assert.equal(mine?.headers.authorization, kind.authorization);
  });

  test(`${kind.type}: statuses of a commit are asked for as another client asks for them`, async () => {
    await using server = await startRecorder((told, response) => {
      if (told.method === 'OPTIONS') return replyJson(response, azureLocations);
      replyJson(response, kind.statuses([{ context: 'smoke', state: 'success' }], told));
    });
    assert.equal(await open(kind, server.url).failedStatus(sha, ['smoke'], inTime()), undefined);
    const [mine] = asked(server);
    const theirs = await sent(server, other.statuses);
    assert.equal(mine?.method, 'GET');
    assert.equal(mine?.path, `${kind.apiPath}${kind.statusesPath}`);
    assert.equal(mine?.path, theirs.path);
    for (const [name, value] of Object.entries(theirs.query)) assert.equal(mine?.query[name], value, name);
    assert.equal(mine?.headers.authorization, kind.authorization);
  });

  const { createComment, updateComment } = other;
  if (!createComment || !updateComment) {
    test(`${kind.type} gets no comments`, () => {
      assert.equal(open(kind, 'http://127.0.0.1:1').comment, undefined);
    });
    continue;
  }

  test(`${kind.type}: a comment is written as another client writes it`, async () => {
    // Somebody else's comment has our marker: it would be theirs to change later.
    await using server = await startForge(kind, [{ id: 4, body: `${marker}\nall is well`, author: 8 }]);
    await open(kind, server.url).comment?.(request, { marker, body: 'the plan' }, inTime());
    const mine = asked(server).at(-1);
    const theirs = await sent(server, (url) => createComment(url, `${marker}\nthe plan`));
    assert.deepEqual([mine?.method, mine?.path, mine?.body], [theirs.method, theirs.path, theirs.body]);
    assert.equal(mine?.headers.authorization, kind.authorization);
  });

  test(`${kind.type}: the comment is updated as another client updates it, and never repeated`, async () => {
    const there = [
      { id: 4, body: `${marker}\nall is well`, author: 8 },
      { id: 5, body: `${marker}\r\nthe old plan`, author: ours },
    ];
    await using server = await startForge(kind, there);
    await open(kind, server.url).comment?.(request, { marker, body: 'the plan' }, inTime());
    const mine = asked(server).at(-1);
    const theirs = await sent(server, (url) => updateComment(url, 5, `${marker}\nthe plan`));
    assert.deepEqual([mine?.method, mine?.path, mine?.body], [theirs.method, theirs.path, theirs.body]);
  });

  test(`${kind.type}: a comment that says it already is left alone`, async () => {
    await using server = await startForge(kind, [{ id: 5, body: `${marker}\r\nthe plan\r\n`, author: ours }]);
    await open(kind, server.url).comment?.(request, { marker, body: 'the plan\n' }, inTime());
    assert.deepEqual(
      asked(server).map(({ method }) => method),
      ['GET'],
    );
  });
}

/** The Bitbucket key is a hash, and Azure's client sends states as numbers. */
function comparable(body: unknown): unknown {
  const { key, state, ...rest } = body as { key?: string; state: unknown };
  if (key !== undefined) assert.equal(key, createHash('sha1').update(status.context).digest('hex'));
  return { ...rest, state: state === 2 ? 'succeeded' : state };
}

for (const [type, expected] of [
  ['GitHub', ['pending', 'success', 'failure', 'error']],
  ['Gitea', ['pending', 'success', 'failure', 'error']],
  ['GitLab', ['pending', 'success', 'failed', 'failed']],
  ['BitbucketCloud', ['INPROGRESS', 'SUCCESSFUL', 'FAILED', 'FAILED']],
  ['BitbucketDataCenter', ['INPROGRESS', 'SUCCESSFUL', 'FAILED', 'FAILED']],
  ['AzureDevOps', ['pending', 'succeeded', 'failed', 'error']],
] as const) {
  test(`${type} says pending, success, failure and error in its own words`, async () => {
    const kind = kindOf(type);
    await using server = await startForge(kind);
    for (const state of ['pending', 'success', 'failure', 'error'] as const) {
      await open(kind, server.url).post({ ...status, state }, inTime());
    }
    assert.deepEqual(
      server.requests.map(({ body }) => (body as { state: string }).state),
      expected,
    );
  });
}

for (const [type, length, expected] of [
  ['GitLab', 255, true],
  ['GitLab', 256, false],
  ['BitbucketDataCenter', 450, true],
  ['BitbucketDataCenter', 451, false],
] as const) {
  test(`${type} ${expected ? 'gets' : 'does not get'} an address of ${length} characters`, async () => {
    const kind = kindOf(type);
    await using server = await startForge(kind);
    const targetURL = 'https://page.example.com/'.padEnd(length, 'x');
    await open(kind, server.url).post({ ...status, targetURL }, inTime());
    const body = server.requests[0]?.body as { target_url?: string; url?: string } | undefined;
    const instead = type === 'GitLab' ? undefined : `${server.url}${kind.commitPath}`;
    assert.equal(body?.target_url ?? body?.url, expected ? targetURL : instead);
  });
}

for (const type of ['BitbucketCloud', 'BitbucketDataCenter'] as const) {
  test(`${type} needs an address: without one, it is the commit's`, async () => {
    const kind = kindOf(type);
    await using server = await startForge(kind);
    const { targetURL: _, ...bare } = status;
    await open(kind, server.url).post(bare, inTime());
    const body = server.requests[0]?.body as { url?: string } | undefined;
    assert.equal(body?.url, `${server.url}${kind.commitPath}`);
  });
}

test("Azure DevOps gets a request's status on the push that it is about", async () => {
  const kind = kindOf('AzureDevOps');
  await using server = await startRecorder((asked, response) => {
    if (asked.method === 'OPTIONS') return replyJson(response, azureLocations);
    if (!asked.path.endsWith('/iterations')) return replyJson(response, {});
    const pushes = [head, sha, head].map((commitId, index) => ({ id: index + 1, sourceRefCommit: { commitId } }));
    return replyJson(response, { count: 3, value: pushes });
  });
  const forge = open(kind, server.url);
  await forge.post({ ...status, request: '17' }, inTime());
  const mine = server.requests.at(-1);
  await others.AzureDevOps.postAbout(server.url).catch(() => undefined);
  const theirs = server.requests.at(-1);
  assert.deepEqual([mine?.method, mine?.path], [theirs?.method, theirs?.path]);
  assert.deepEqual(comparable(mine?.body), comparable(theirs?.body));
  const gone = { ...status, sha: 'ef'.repeat(20), request: '17' };
  await assert.rejects(forge.post(gone, inTime()), { reason: 'StatusRejected', message: /no iteration/ });
});

for (const kind of kinds.filter(({ type }) => type !== 'AzureDevOps')) {
  test(`${kind.type} shows what is about a request at its commit`, async () => {
    await using server = await startForge(kind);
    await open(kind, server.url).post({ ...status, request: '17' }, inTime());
    await open(kind, server.url).post(status, inTime());
    const [about, plain] = server.requests;
    assert.deepEqual([about?.path, about?.body], [plain?.path, plain?.body]);
  });
}

test('GitLab’s refusal to go where a status is already is a success', async () => {
  const kind = kindOf('GitLab');
  await using server = await startRecorder((_, response) =>
    replyJson(response, { message: 'Cannot transition status via :enqueue from :pending (Reason(s): …)' }, 400),
  );
  await open(kind, server.url).post({ ...status, sha, state: 'pending' }, inTime());
});
