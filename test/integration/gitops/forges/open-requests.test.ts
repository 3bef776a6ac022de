import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Recorder, replyJson, startRecorder } from '../../../support/git/recorder.ts';
import { head, inTime, type Kind, kinds, open, type Sample } from './kinds.ts';

/** A forge with these requests, in pages of 50. */
async function startForge(kind: Kind, samples: readonly Sample[]): Promise<Recorder> {
  return await startRecorder((asked, response) => {
    const page = kind.pageAsked(asked);
    if (page !== undefined) {
      const last = (page + 1) * 50 >= samples.length;
      return replyJson(response, kind.page(samples.slice(page * 50, page * 50 + 50), last));
    }
    // Bitbucket Cloud's list of one request's commits.
    const [, number] = /\/pullrequests\/(\d+)\/commits$/.exec(asked.path) ?? [];
    const sample = samples.find((one) => String(one.number) === number);
    return sample ? replyJson(response, { values: [{ hash: sample.sha ?? head }] }) : replyJson(response, {}, 404);
  });
}

function many(count: number): Sample[] {
  return Array.from({ length: count }, (_, index) => ({ number: 1000 - index }));
}

for (const kind of kinds) {
  test(`${kind.type}: an open request is told with all that a check needs`, async () => {
    await using server = await startForge(kind, [{ number: 17, title: 'Upgrade orders' }]);
    const forge = open(kind, server.url);
    const { requests, more } = await forge.openRequests('main', inTime());
    assert.equal(more, false);
    assert.deepEqual(
      requests.map(({ url, ...rest }) => ({ ...rest, web: /^https?:\/\//.test(url) })),
      [
        {
          number: '17',
          title: 'Upgrade orders',
          headSha: head,
          headRef: kind.headRef(17),
          target: 'main',
          fork: false,
          draft: false,
          web: true,
        },
      ],
    );
  });

  test(`${kind.type}: a fork and a draft are told as such`, async () => {
    await using server = await startForge(kind, [
      { number: 3, fork: true },
      { number: 2, draft: true },
      { number: 1, fork: true, draft: true },
    ]);
    const { requests } = await open(kind, server.url).openRequests('main', inTime());
    assert.deepEqual(
      requests.map(({ number, fork, draft, headRef }) => [number, fork, draft, headRef]),
      [
        ['3', true, false, kind.forkRef ? kind.headRef(3) : undefined],
        ['2', false, true, kind.headRef(2)],
        ['1', true, true, kind.forkRef ? kind.headRef(1) : undefined],
      ],
    );
  });

  for (const [count, kept, more] of [
    [0, 0, false],
    [49, 49, false],
    [50, 50, false],
    [51, 51, false],
    [99, 99, false],
    [151, 100, true],
  ] as const) {
    test(`${kind.type}: of ${count} open requests, ${kept} are read${more ? ', and that there are more' : ''}`, async () => {
      await using server = await startForge(kind, many(count));
      const found = await open(kind, server.url).openRequests('main', inTime());
      assert.equal(found.requests.length, kept);
      assert.equal(found.more, more);
      assert.equal(new Set(found.requests.map(({ number }) => number)).size, kept);
      assert.equal(found.requests[0]?.number, kept === 0 ? undefined : '1000');
      const pages = server.requests.filter((asked) => kind.pageAsked(asked) !== undefined).length;
      assert.ok(pages <= 4, `${pages} pages`);
    });
  }

  test(`${kind.type}: a request without a commit is left out; strangers' text is made harmless`, async () => {
    await using server = await startForge(kind, [
      { number: 9, sha: '' },
      { number: 8, sha: '../../etc/passwd' },
      { number: 7, sha: head.toUpperCase() },
      { number: 6, title: 'one\nline\u202e\u0007', url: 'javascript:alert(1)' },
      { number: 5, title: 'x'.repeat(100_000), url: `https://x/${'y'.repeat(5000)}` },
      { number: 4, title: '' },
    ]);
    const { requests } = await open(kind, server.url).openRequests('main', inTime());
    assert.deepEqual(
      requests.map(({ number }) => number),
      ['6', '5', '4'],
    );
    assert.equal(requests[0]?.title, 'one line');
    assert.ok((requests[1]?.title.length ?? 1000) <= 140);
    for (const { url } of requests) assert.match(url, /^https?:\/\/[^/]+\/.*[456]$/);
  });

  test(`${kind.type}: a forge whose pages never end is left after a while`, async () => {
    await using server = await startRecorder((asked, response) =>
      kind.pageAsked(asked) === undefined
        ? replyJson(response, { values: [] })
        : // No request in them has a commit, so there are never enough.
          replyJson(
            response,
            kind.page(
              many(50).map((sample) => ({ ...sample, sha: '' })),
              false,
            ),
          ),
    );
    const found = await open(kind, server.url).openRequests('main', inTime());
    assert.deepEqual(found, { requests: [], more: true });
    assert.ok(server.requests.length <= 20, `${server.requests.length} requests`);
  });

  test(`${kind.type}: a branch with every sign in its name is asked for by that name`, async () => {
    const target = 'release/1.0 "&?#%+ü';
    await using server = await startForge(kind, [{ number: 1, target }]);
    const { requests } = await open(kind, server.url).openRequests(target, inTime());
    assert.deepEqual(
      requests.map((request) => request.target),
      [target],
    );
    const named = kind.type === 'BitbucketCloud' ? JSON.stringify(target) : target;
    assert.ok(Object.values(server.requests[0]?.query ?? {}).some((value) => value.includes(named)));
  });
}

test('Gitea, where it does not filter by branch, is filtered by us', async () => {
  const kind = kinds.find(({ type }) => type === 'Gitea');
  assert.ok(kind);
  await using server = await startForge(kind, [{ number: 2, target: 'other' }, { number: 1 }]);
  const { requests } = await open(kind, server.url).openRequests('main', inTime());
  assert.deepEqual(
    requests.map(({ number }) => number),
    ['1'],
  );
});

test('Bitbucket Cloud names a head by twelve digits: no other commit is taken for it', async () => {
  const kind = kinds.find(({ type }) => type === 'BitbucketCloud');
  assert.ok(kind);
  await using server = await startRecorder((asked, response) =>
    replyJson(
      response,
      asked.path.endsWith('/commits') ? { values: [{ hash: 'ef'.repeat(20) }] } : kind.page([{ number: 1 }], true),
    ),
  );
  assert.deepEqual(await open(kind, server.url).openRequests('main', inTime()), { requests: [], more: false });
});
