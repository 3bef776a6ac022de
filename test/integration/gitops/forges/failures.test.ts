import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { ForgeError, type ForgeReason } from '../../../../gitops/forges/error.ts';
import type { ChangeRequest, Forge } from '../../../../gitops/forges/forge.ts';
import { selfSigned } from '../../../support/git/certificate.ts';
import { type Answer, type RecordedRequest, replyJson, startRecorder } from '../../../support/git/recorder.ts';
import { head, inTime, type Kind, kindOf, kinds, open, secret, sha, status } from './kinds.ts';

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

type Act = (forge: Forge, patience?: { readonly signal: AbortSignal }) => Promise<unknown>;

/** Everything that a forge is asked. */
function actsOf(kind: Kind): readonly (readonly [string, Act])[] {
  const forge = open(kind, 'http://127.0.0.1:1');
  return [
    ['post', (one, patience = inTime()) => one.post(status, patience)],
    ['openRequests', (one, patience = inTime()) => one.openRequests('main', patience)],
    ['failedStatus', (one, patience = inTime()) => one.failedStatus(sha, ['smoke'], patience)],
    ...(forge.comment
      ? ([
          [
            'comment',
            (one: Forge, patience = inTime()) =>
              one.comment?.(request, { marker: '<!-- m -->', body: 'b' }, patience) ?? Promise.resolve(),
          ],
        ] as const)
      : []),
  ];
}

/** A web page that nobody asked for. */
function page(response: ServerResponse, code: number, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'text/html; charset=utf-8', ...headers }).end('<html>Sign in</html>');
}

function text(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}

function flood(response: ServerResponse, code: number): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(262_144, ' ');
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    response.once('drain', more);
  };
  more();
}

const hourLater = Math.ceil(Date.now() / 1000) + 3600;
/** What it says gives back what we showed it, as a broken or a bad forge might. */
const echo = ({ headers }: RecordedRequest) => ({
  message: `no: ${headers.authorization} ${secret}`,
  errors: [{ message: secret }],
});

const failures: readonly (readonly [string, Answer, ForgeReason, RegExp])[] = [
  ['refuses the token', (r, a) => replyJson(a, echo(r), 401), 'ForgeUnauthorized', /does not accept.*Secret/],
  ['shows a sign-in page', (_, a) => page(a, 203), 'ForgeUnauthorized', /web page.*renew it in the Secret/],
  ['forbids it', (r, a) => replyJson(a, echo(r), 403), 'ForgeForbidden', /grant it that/],
  [
    'limits the rate for an hour',
    (_, a) => replyJson(a, {}, 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(hourLater) }),
    'RateLimited',
    /limits our requests/,
  ],
  [
    'asks to come back in a minute',
    (_, a) => replyJson(a, {}, 429, { 'retry-after': '60' }),
    'RateLimited',
    /limits our requests/,
  ],
  ['does not know the repository', (r, a) => replyJson(a, echo(r), 404), 'RepositoryNotFound', /does not know/],
  ['is in conflict', (r, a) => replyJson(a, echo(r), 409), 'ForgeBusy', /could not take it now/],
  ['rejects it', (r, a) => replyJson(a, echo(r), 422), 'StatusRejected', /rejects/],
  ['takes it for a bad request', (r, a) => replyJson(a, echo(r), 400), 'StatusRejected', /rejects/],
  ['fails', (r, a) => replyJson(a, echo(r), 500), 'ForgeFailing', /HTTP 500/],
  ['is behind a proxy that fails', (_, a) => page(a, 502), 'ForgeFailing', /HTTP 502/],
  ['is a teapot', (r, a) => replyJson(a, echo(r), 418), 'BadAnswer', /HTTP 418/],
  ['answers with a web page', (_, a) => page(a, 200), 'BadAnswer', /web page/],
  ['closes the connection', (_, a) => a.destroy(), 'ForgeUnreachable', /cannot be reached/],
  ['redirects without end', (r, a) => page(a, 307, { location: r.path }), 'RedirectRefused', /redirects/],
  ['fails without end', (_, a) => flood(a, 500), 'ForgeFailing', /HTTP 500/],
];

/** Only what is read can be wrong in these ways. */
const unreadable: readonly (readonly [string, Answer, RegExp])[] = [
  ['answers with half of it', (_, a) => text(a, '[{"number": 1,'), /not JSON/],
  ['answers with nothing', (_, a) => text(a, ''), /not JSON/],
  ['answers as another forge', (_, a) => text(a, '{"hello": [{}]}'), /is forge\.type right/],
  ['answers with null', (_, a) => text(a, 'null'), /is forge\.type right/],
  ['answers without end', (_, a) => flood(a, 200), /more than we read/],
];

function assertClear(error: unknown, reason: ForgeReason, words: RegExp): true {
  assert.ok(error instanceof ForgeError, String(error));
  assert.equal(error.reason, reason);
  assert.match(error.message, words);
  assert.match(error.message, /127\.0\.0\.1/, 'the message names the place');
  assert.doesNotMatch(error.message, new RegExp(`${secret}|${Buffer.from(`:${secret}`).toString('base64')}`));
  assert.doesNotMatch(error.message, /no: |hello/, 'no word of the answer');
  assert.ok(error.message.length < 500, error.message);
  return true;
}

for (const kind of kinds) {
  for (const [act, run] of actsOf(kind)) {
    test(`${kind.type}: every way in which ${act} can fail is told clearly, and without the token`, async (t) => {
      await using server = await startRecorder();
      // Data Center says the same of a key that no build has.
      const means = act === 'failedStatus' && kind.type === 'BitbucketDataCenter' ? 'RepositoryNotFound' : undefined;
      for (const [name, answer, reason, words] of failures.filter((one) => one[2] !== means)) {
        await t.test(name, async () => {
          server.answerWith(answer);
          await assert.rejects(run(open(kind, server.url)), (error) => assertClear(error, reason, words));
        });
      }
      if (act === 'post') return;
      for (const [name, answer, words] of unreadable) {
        await t.test(name, async () => {
          server.answerWith(answer);
          await assert.rejects(run(open(kind, server.url)), (error) => assertClear(error, 'BadAnswer', words));
        });
      }
    });

    test(`${kind.type}: ${act} gives up when there is no time left`, async () => {
      await using server = await startRecorder(() => undefined);
      const patience = inTime(200);
      await assert.rejects(run(open(kind, server.url), patience), (e) => assertClear(e, 'Timeout', /no time left/));
    });

    test(`${kind.type}: ${act} never follows to another host with the token`, async () => {
      await using thief = await startRecorder();
      await using server = await startRecorder((_, a) => page(a, 302, { location: `${thief.url}/x` }));
      await assert.rejects(run(open(kind, server.url)), (e) => assertClear(e, 'RedirectRefused', /must not follow/));
      assert.deepEqual(thief.requests, []);
    });

    test(`${kind.type}: ${act} wants a certificate that it can trust`, async () => {
      const tls = selfSigned();
      await using server = await startRecorder((_, a) => replyJson(a, {}, 422), tls);
      await assert.rejects(run(open(kind, server.url)), (e) => assertClear(e, 'CertificateNotTrusted', /ca\.crt/));
      assert.deepEqual(server.requests, []);
      const trusting = open(kind, server.url, { caBundle: tls.cert });
      await assert.rejects(run(trusting), (e) => assertClear(e, 'StatusRejected', /rejects/));
    });
  }

  test(`${kind.type}: a commit that it does not have concerns that status, not the forge`, async () => {
    await using server = await startRecorder((_, a) =>
      replyJson(a, { message: '404 References for commit Not Found' }, 404),
    );
    await assert.rejects(open(kind, server.url).post(status, inTime()), (error) => {
      assertClear(error, 'StatusRejected', /does not have the commit/);
      assert.equal((error as ForgeError).class, 'status');
      return true;
    });
  });

  test(`${kind.type}: when it wants to be asked again is handed on`, async () => {
    await using server = await startRecorder((_, a) => replyJson(a, {}, 429, { 'retry-after': '60' }));
    const before = Date.now();
    await assert.rejects(open(kind, server.url).post(status, inTime()), (error) => {
      const { retryAt = 0 } = error as ForgeError;
      return retryAt >= before + 60_000 && retryAt <= Date.now() + 60_000;
    });
  });

  test(`${kind.type}: an unreachable forge is named, and a commit's address needs no request`, async () => {
    const gone = await startRecorder();
    await gone[Symbol.asyncDispose]();
    const forge = open(kind, gone.url);
    await assert.rejects(forge.post(status, inTime()), (e) => assertClear(e, 'ForgeUnreachable', /ECONNREFUSED/));
    assert.equal(forge.commitUrl(sha), `${gone.url}${kind.commitPath}`);
  });
}

for (const [what, error, words] of [
  ['a commit that bears all its statuses', { resource: 'Status', code: 'custom', message: 'x' }, /1,000 statuses/],
  ['a field that is wrong', { resource: 'Status', code: 'custom', field: 'description', message: 'x' }, /rejects/],
  ['nothing', null, /rejects/],
] as const) {
  test(`GitHub refuses a status for ${what}, and that is told`, async () => {
    await using server = await startRecorder((_, a) => replyJson(a, { errors: [error] }, 422));
    await assert.rejects(open(kindOf('GitHub'), server.url).post(status, inTime()), (thrown) =>
      assertClear(thrown, 'StatusRejected', words),
    );
  });
}
