import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import { ForgeError } from '../../../../gitops/forges/error.ts';
import type { Forge } from '../../../../gitops/forges/forge.ts';
import { openForge } from '../../../../gitops/forges/forges.ts';
import { appJwt } from '../../../../gitops/forges/github/app.ts';
import { type Answer, type Recorder, replyJson, startRecorder } from '../../../support/git/recorder.ts';
import { localNetwork } from '../../../support/network.ts';

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString();
const credentials = { kind: 'app', appId: 'Iv23liABC', installationId: '42', privateKey } as const;
const status = { sha: 'ab'.repeat(20), context: 'etcd-ratchet/a', state: 'success', description: 'd' } as const;
const request = {
  number: '17',
  title: 't',
  url: 'https://x',
  headSha: 'cd'.repeat(20),
  headRef: 'refs/pull/17/head',
  target: 'main',
  fork: false,
  draft: false,
  author: '100',
  labelled: false,
};

function partsOf(token: string): { head: unknown; claims: { iat: number; exp: number; iss: string }; valid: boolean } {
  const [head = '', claims = '', signature = ''] = token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const signed = Buffer.from(`${head}.${claims}`);
  const valid = verify('RSA-SHA256', signed, createPublicKey(privateKey), Buffer.from(signature, 'base64url'));
  return { head: read(head), claims: read(claims), valid };
}

function open({ url }: Recorder): Forge {
  return openForge('GitHub', { gitUrl: `${url}/platform/etcd.git`, credentials, network: localNetwork });
}

function inTime() {
  return { signal: AbortSignal.timeout(10_000) };
}

/** GitHub, which gives out a token for each request for one, named by its permissions. */
function gitHub(expiresInMs = 3_600_000): Answer {
  let given = 0;
  return ({ path, body }, response) => {
    if (!path.endsWith('/access_tokens')) return replyJson(response, /pulls|comments/.test(path) ? [] : { id: 1 }, 201);
    given++;
    const [permission] = Object.entries((body as { permissions: object }).permissions);
    const token = `ghs_${permission?.join('-')}-${given}`;
    return replyJson(response, { token, expires_at: new Date(Date.now() + expiresInMs).toISOString() }, 201);
  };
}

test('the App’s token is signed with its key, and valid below ten minutes with a clock off', () => {
  const now = Date.parse('2026-01-01T00:00:00.700Z');
  const { head, claims, valid } = partsOf(appJwt(credentials, now));
  assert.ok(valid);
  assert.deepEqual(head, { alg: 'RS256', typ: 'JWT' });
  assert.deepEqual(claims, { iat: 1767225540, exp: 1767226140, iss: 'Iv23liABC' });
  assert.ok(claims.exp - claims.iat <= 600);
});

test('a token is asked for once per purpose, for this repository and that one right', async () => {
  await using server = await startRecorder(gitHub());
  const forge = open(server);
  assert.equal(server.requests.length, 0, 'opening asks nobody');
  await forge.post(status, inTime());
  await forge.post({ ...status, state: 'failure' }, inTime());
  await forge.openRequests('main', inTime());
  await forge.comment?.(request, { marker: '<!-- m -->', body: 'b' }, inTime());
  const grants = server.requests.filter(({ path }) => path.endsWith('/access_tokens'));
  assert.deepEqual(
    grants.map(({ method, path, body }) => [method, path, body]),
    [{ statuses: 'write' }, { pull_requests: 'read' }, { pull_requests: 'write' }].map((permissions) => [
      'POST',
      '/api/v3/app/installations/42/access_tokens',
      { repositories: ['etcd'], permissions },
    ]),
  );
  for (const { headers } of grants) assert.ok(partsOf(headers.authorization?.replace('Bearer ', '') ?? '').valid);
  assert.deepEqual(
    server.requests
      .filter(({ path }) => !path.endsWith('/access_tokens'))
      .map(({ method, headers }) => [method, headers.authorization]),
    [
      ['POST', 'Bearer ghs_statuses-write-1'],
      ['POST', 'Bearer ghs_statuses-write-1'],
      ['GET', 'Bearer ghs_pull_requests-read-2'],
      ['GET', 'Bearer ghs_pull_requests-write-3'],
      ['POST', 'Bearer ghs_pull_requests-write-3'],
    ],
  );
});

test('a token that is about to end is replaced', async () => {
  await using server = await startRecorder(gitHub(30_000));
  const forge = open(server);
  await forge.post(status, inTime());
  await forge.post(status, inTime());
  assert.equal(server.requests.filter(({ path }) => path.endsWith('/access_tokens')).length, 2);
});

for (const [name, answer, reason] of [
  ['is not known', { status: 401, body: { message: 'A JSON web token could not be decoded' } }, 'ForgeUnauthorized'],
  ['is suspended', { status: 403, body: { message: 'This installation has been suspended' } }, 'ForgeForbidden'],
  ['is not installed', { status: 404, body: { message: 'Not Found' } }, 'RepositoryNotFound'],
  [
    'was not granted that right',
    { status: 422, body: { message: 'The permissions requested are not granted to this installation.' } },
    'StatusRejected',
  ],
  ['gets no token', { status: 201, body: { expires_at: '2026-01-01T00:00:00Z' } }, 'BadAnswer'],
] as const) {
  test(`an App that ${name} is ${reason}, without a word of the answer or its key`, async () => {
    await using server = await startRecorder((_, response) => replyJson(response, answer.body, answer.status));
    await assert.rejects(open(server).post(status, inTime()), (error) => {
      assert.ok(error instanceof ForgeError);
      assert.equal(error.reason, reason);
      if ('message' in answer.body) assert.ok(!error.message.includes(answer.body.message), error.message);
      assert.doesNotMatch(error.message, /eyJ|PRIVATE/);
      return true;
    });
    assert.equal(server.requests.length, 1);
  });
}

test('an App knows its own comments by the App that wrote them', async () => {
  const marker = '<!-- m -->';
  for (const [app, expected] of [
    [{ id: 9, client_id: 'Iv23liABC' }, 'PATCH'],
    [{ id: 9, client_id: 'Iv23liXYZ' }, 'POST'],
    [null, 'POST'],
  ] as const) {
    const comment = { id: 5, body: `${marker}\nold`, user: { id: 3 }, performed_via_github_app: app };
    await using server = await startRecorder((asked, response) =>
      asked.path.endsWith('/comments') && asked.method === 'GET'
        ? replyJson(response, [comment])
        : gitHub()(asked, response),
    );
    await open(server).comment?.(request, { marker, body: 'new' }, inTime());
    assert.equal(server.requests.at(-1)?.method, expected);
  }
});
