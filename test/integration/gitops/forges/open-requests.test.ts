import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeRequest } from '../../../../gitops/forges/forge.ts';
import { forkLabel } from '../../../../manifests/api/etcd-fleet.ts';
import { type Recorder, replyJson, startRecorder } from '../../../support/git/recorder.ts';
import { head, inTime, type Kind, kindOf, kinds, open, type Sample } from './kinds.ts';

/** A forge with these requests, in pages of 50. */
async function startForge(kind: Kind, samples: readonly Sample[]): Promise<Recorder> {
  return await startRecorder((asked, response) => {
    const page = kind.pageAsked(asked);
    if (page !== undefined) {
      const last = (page + 1) * 50 >= samples.length;
      return replyJson(response, kind.page(samples.slice(page * 50, page * 50 + 50), last, page));
    }
    // Bitbucket Cloud's list of one request's commits.
    const [, number] = /\/pullrequests\/(\d+)\/commits$/.exec(asked.path) ?? [];
    const sample = samples.find((one) => String(one.number) === number);
    return sample ? replyJson(response, { values: [{ hash: sample.sha ?? head }] }) : replyJson(response, {}, 404);
  });
}

function many(count: number): Sample[] {
  return Array.from({ length: count }, (_, index) => ({ number: 2000 - index }));
}

for (const kind of kinds) {
  test(`${kind.type}: an open request is told with all that a check needs`, async () => {
    await using server = await startForge(kind, [{ number: 17, title: 'Upgrade orders' }]);
    const forge = open(kind, server.url);
    const { requests, next } = await forge.openRequests('main', inTime());
    assert.equal(next, undefined);
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
          author: '100',
          labelled: false,
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

  for (const count of [0, 49, 50, 51, 99, 151, 1000, 1051]) {
    test(`${kind.type}: of ${count} open requests, each is read once, in looks of at most ${kind.most}`, async () => {
      await using server = await startForge(kind, many(count));
      const forge = open(kind, server.url);
      const found: string[] = [];
      let from: number | undefined;
      for (let left = count; ; left -= kind.most) {
        const pages = server.requests.filter((asked) => kind.pageAsked(asked) !== undefined).length;
        const { requests, next } = await forge.openRequests('main', { ...inTime(), from });
        found.push(...requests.map(({ number }) => number));
        const asked = server.requests.filter((one) => kind.pageAsked(one) !== undefined).length - pages;
        assert.ok(asked <= 20, `${asked} pages`);
        from = next;
        if (next === undefined) break;
        assert.equal(requests.length, kind.most);
        assert.ok(left >= kind.most, 'it ends');
      }
      assert.deepEqual(
        found,
        many(count).map(({ number }) => String(number)),
      );
    });
  }

  test(`${kind.type}: a fork that is gone is a fork, and its author and exact label are told`, async () => {
    await using server = await startForge(kind, [
      { number: 4, fork: 'gone', author: null, labels: [forkLabel] },
      { number: 3, fork: true, author: 7, labels: ['bug', forkLabel] },
      { number: 2, fork: true, author: 8, labels: [forkLabel.toUpperCase(), `${forkLabel}s`] },
      { number: 1, author: 9 },
    ]);
    const forge = open(kind, server.url);
    const { requests } = await forge.openRequests('main', inTime());
    const bears = kind.labels !== undefined;
    assert.deepEqual(
      requests.map(({ number, fork, author, labelled }) => [number, fork, author, labelled]),
      [
        ['4', true, '', bears],
        ['3', true, '7', bears],
        ['2', true, '8', false],
        ['1', false, '9', false],
      ],
    );
    assert.equal(typeof forge.labelProof === 'object' ? 'asks' : forge.labelProof, kind.labels);
    assert.doesNotMatch(JSON.stringify(requests), /everybody/);
  });

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
    assert.deepEqual(found.requests, []);
    assert.notEqual(found.next, undefined);
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
  const kind = kindOf('Gitea');
  await using server = await startForge(kind, [{ number: 2, target: 'other' }, { number: 1 }]);
  const { requests } = await open(kind, server.url).openRequests('main', inTime());
  assert.deepEqual(
    requests.map(({ number }) => number),
    ['1'],
  );
});

test('Bitbucket Cloud names a head by twelve digits: no other commit is taken for it', async () => {
  const kind = kindOf('BitbucketCloud');
  await using server = await startRecorder((asked, response) =>
    replyJson(
      response,
      asked.path.endsWith('/commits') ? { values: [{ hash: 'ef'.repeat(20) }] } : kind.page([{ number: 1 }], true),
    ),
  );
  assert.deepEqual(await open(kind, server.url).openRequests('main', inTime()), { requests: [] });
});

/** What Gitea tells of a request: comments and labels, as others set them. */
function timeline(events: readonly (readonly [user: number | null, label?: string, isSet?: boolean])[]) {
  return events.map(([user, label, isSet = true], index) => ({
    id: index + 1,
    type: label === undefined ? 'comment' : 'label',
    body: label === undefined ? forkLabel : isSet ? '1' : '',
    user: user === null ? null : { id: user },
    label: label === undefined ? null : { name: label },
  }));
}

const author = 7;
const chatter = Array.from({ length: 120 }, (): readonly [number] => [author]);
for (const type of ['Gitea', 'Forgejo'] as const) {
  for (const [what, events, expected] of [
    ['of a maintainer', [[8, forkLabel]], true],
    ['of a maintainer, after comments', [...chatter, [8, forkLabel]], true],
    ['that its author set when it was opened', [[author, forkLabel]], false],
    [
      'that a maintainer set anew',
      [
        [author, forkLabel],
        [8, forkLabel, false],
        [8, forkLabel],
      ],
      true,
    ],
    [
      'that its author set again',
      [
        [8, forkLabel],
        [8, forkLabel, false],
        [author, forkLabel],
      ],
      false,
    ],
    ['of an account that is gone', [[null, forkLabel]], false],
    [
      'of a maintainer, but another one',
      [
        [8, forkLabel.toUpperCase()],
        [author, forkLabel],
      ],
      false,
    ],
    ['that only a comment speaks of', [[8]], false],
    ['after more than is read', [...chatter, ...chatter, [8, forkLabel]], false],
  ] as const) {
    test(`${type}: a label ${what} ${expected ? 'counts' : 'does not count'}`, async () => {
      const kind = kindOf(type);
      const all = timeline(events);
      await using server = await startRecorder(({ path, query }, response) => {
        assert.equal(path, `${kind.apiPath}/repos/platform/etcd/issues/3/timeline`);
        const start = (Number(query.page) - 1) * 50;
        const found = all.slice(start, start + 50);
        replyJson(response, found.length === 0 ? (null as never) : found);
      });
      const { labelProof } = open(kind, server.url);
      assert.ok(typeof labelProof === 'object');
      const request = { number: '3', author: String(author) } as ChangeRequest;
      assert.equal(await labelProof.asks(request, inTime()), expected);
      assert.ok(server.requests.length <= 4);
    });
  }
}

test('Gitea: a timeline without pages is read once more, and ends', async () => {
  const kind = kindOf('Gitea');
  await using server = await startRecorder((_, response) => replyJson(response, timeline([[8, forkLabel]])));
  const { labelProof } = open(kind, server.url);
  assert.ok(typeof labelProof === 'object');
  const request = { number: '3', author: String(author) } as ChangeRequest;
  assert.equal(await labelProof.asks(request, inTime()), true);
  assert.equal(server.requests.length, 2);
});

const bitbucketCloud = kindOf('BitbucketCloud');

test('Bitbucket Cloud tells by digits and times of its list whether all is the same', async () => {
  const samples: Sample[] = [{ number: 17 }, { number: 16, fork: 'gone' }];
  await using server = await startForge(bitbucketCloud, samples);
  const forge = open(bitbucketCloud, server.url);
  const { validator = '' } = await forge.openRequests('main', inTime());
  const isSame = () => forge.isUnchanged?.('main', { list: validator }, inTime());
  const before = server.requests.length;
  assert.equal(await isSame(), true);
  assert.equal(server.requests.length - before, 1);
  for (const [what, change] of Object.entries({
    'another commit': { sha: 'ef'.repeat(20) },
    // An author can make one.
    'another commit of the same twelve digits': { sha: `${head.slice(0, 12)}${'0'.repeat(28)}`, updated: 'later' },
    'another title': { title: 'two' },
    'another target': { target: 'release' },
    'no time': { updated: null },
  } satisfies Record<string, Partial<Sample>>)) {
    samples[0] = { number: 17, ...change };
    assert.equal(await isSame(), false, what);
  }
  samples[0] = { number: 17 };
  assert.equal(await isSame(), true);
  samples.push({ number: 15 });
  assert.equal(await isSame(), false);
});

test('Bitbucket Cloud’s list of two pages, or without times, is compared with nothing', async () => {
  for (const samples of [many(51), [{ number: 17, updated: null }]]) {
    await using server = await startForge(bitbucketCloud, samples);
    assert.equal((await open(bitbucketCloud, server.url).openRequests('main', inTime())).validator, undefined);
  }
});
