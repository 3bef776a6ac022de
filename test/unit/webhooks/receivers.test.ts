import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameBranch, isSameRef } from '../../../gitops/webhooks/receiver.ts';
import { receiverOf } from '../../../gitops/webhooks/receivers.ts';
import { type WebhookType, webhookTypes } from '../../../manifests/api/etcd-fleet.ts';
import { callers, noCommit, type Sent, sendSignedByGitLab } from '../../support/webhooks/deliveries.ts';

/** The contract that each receiver keeps, and what is peculiar to one. */

const secret = 'a secret, läng genug 🔑';
const secrets = [Buffer.from(secret)];
const now = new Date();
const facts = {
  url: 'https://git.example.com/platform/etcd.git',
  ref: 'refs/heads/main',
  before: '1'.repeat(40),
  after: 'a'.repeat(40),
};

function delivered({ headers, body }: Sent) {
  return { header: (name: string) => headers[name], body: Buffer.from(body) };
}

async function sent(type: WebhookType, payload: object | string = callers[type].push(facts), by = secret) {
  return callers[type].send(by, callers[type].events.push, payload);
}

for (const type of webhookTypes) {
  const receiver = receiverOf(type);
  const caller = callers[type];

  test(`${type}: a push is verified and read`, async () => {
    const delivery = delivered(await sent(type));
    assert.ok(receiver.verify(delivery, secrets, now));
    const [event, ...others] = receiver.read(delivery);
    assert.deepEqual(others, []);
    const { url, ...rest } = facts;
    assert.partialDeepStrictEqual(event, { kind: 'push', ...rest });
    assert.ok(event?.kind === 'push' && event.repositoryUrls.includes(url));
    assert.ok((receiver.id(delivery)?.length ?? 0) > 8, 'what the forge calls it');
  });

  test(`${type}: while the secret is rotated, both are good, and afterwards the old one is not`, async () => {
    const [before, after] = [
      delivered(await sent(type, undefined, 'old')),
      delivered(await sent(type, undefined, 'new')),
    ];
    const both = [Buffer.from('new'), Buffer.from('old')];
    assert.deepEqual([receiver.verify(before, both, now), receiver.verify(after, both, now)], [true, true]);
    assert.equal(receiver.verify(before, [Buffer.from('new')], now), false);
  });

  test(`${type}: without a secret, or with an empty one, no delivery is accepted`, async () => {
    for (const by of ['', secret]) {
      const { headers, body } = await sent(type, undefined, by);
      const delivery = delivered({ headers, body });
      assert.equal(receiver.verify(delivery, [], now), false);
      assert.equal(receiver.verify(delivery, [Buffer.alloc(0)], now), false);
    }
  });

  test(`${type}: another secret, no proof, half a proof, or a proof in the wrong form is refused`, async () => {
    const { headers, body } = await sent(type);
    assert.ok(receiver.verify(delivered({ headers, body }), secrets, now));
    const [proof = ''] = receiver.proofs.filter((name) => headers[name] !== undefined);
    const good = headers[proof] ?? '';
    assert.equal(receiver.verify(delivered({ headers, body }), [Buffer.from('another')], now), false);
    const without = Object.fromEntries(Object.entries(headers).filter(([name]) => !receiver.proofs.includes(name)));
    assert.equal(receiver.verify(delivered({ headers: without, body }), secrets, now), false);
    for (const bad of [
      '',
      ' ',
      good.slice(0, -1),
      `${good}0`,
      `sha1=${good.split('=').at(-1)}`,
      'sha256=',
      'v1,',
      '\0',
    ]) {
      const others = Object.fromEntries(receiver.proofs.map((name) => [name, bad]));
      assert.equal(receiver.verify(delivered({ headers: { ...headers, ...others }, body }), secrets, now), false, bad);
    }
  });

  if (!['GitLab', 'AzureDevOps'].includes(type)) {
    test(`${type}: one byte more, less or other in the body is refused`, async () => {
      const { headers, body } = await sent(type);
      for (const other of [`${body} `, body.slice(0, -1), body.replace('main', 'Main'), '']) {
        assert.equal(receiver.verify(delivered({ headers, body: other }), secrets, now), false);
      }
    });
  }

  test(`${type}: bytes are verified, whatever they say`, async () => {
    const body = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
    // Signed over text, which these bytes are not: what is signed here is something else.
    const { headers } = await sent(type, body.toString('utf8'));
    const delivery = { header: (name: string) => headers[name], body };
    const isProofOfSecretOnly = ['GitLab', 'AzureDevOps'].includes(type);
    assert.equal(receiver.verify(delivery, secrets, now), isProofOfSecretOnly);
  });

  if (type !== 'Generic') {
    test(`${type}: a request is read with its number and target`, async () => {
      const payload = caller.request({ url: facts.url, target: 'main', number: 17 });
      const delivery = delivered(await caller.send(secret, caller.events.request, payload));
      const [event] = receiver.read(delivery);
      assert.partialDeepStrictEqual(event, { kind: 'request', number: '17' });
      assert.match(event?.kind === 'request' ? event.target : '', /^(refs\/heads\/)?main$/);
    });

    test(`${type}: what else the forge tells is ignored, and said to be`, async () => {
      const delivery = delivered(
        await caller.send(secret, caller.events.other, { object_kind: 'note', eventType: 'x' }),
      );
      assert.equal(receiver.read(delivery)[0]?.kind, 'ignored');
    });
  }

  const { ping } = caller;
  if (ping) {
    test(`${type}: its ping is a ping`, async () => {
      assert.equal(receiver.read(delivered(await caller.send(secret, ping.event, ping.payload)))[0]?.kind, 'ping');
    });
  }
}

test('a hub signature that says sha1 is refused, even where the digits would fit', async () => {
  const { headers, body } = await sent('GitHub');
  const digits = (headers['x-hub-signature-256'] ?? '').slice('sha256='.length);
  for (const name of ['sha1', 'sha512', 'SHA256', 'md5']) {
    const delivery = delivered({ headers: { 'x-hub-signature-256': `${name}=${digits}` }, body });
    assert.equal(receiverOf('GitHub').verify(delivery, secrets, now), false, name);
  }
  assert.equal(
    receiverOf('GitHub').verify(delivered({ headers: { 'x-hub-signature': `sha256=${digits}` }, body }), secrets, now),
    false,
    'not where GitHub puts it',
  );
});

test('GitHub may send a form: its bytes are signed, its field payload is read', async () => {
  const body = new URLSearchParams({ payload: JSON.stringify(callers.GitHub.push(facts)) }).toString();
  const { headers } = await callers.GitHub.send(secret, 'push', body);
  const delivery = delivered({ headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' }, body });
  assert.ok(receiverOf('GitHub').verify(delivery, secrets, now));
  assert.partialDeepStrictEqual(receiverOf('GitHub').read(delivery)[0], { kind: 'push', after: facts.after });
});

test('Forgejo: a wrong signature of its own is not saved by a right one in Gitea’s name', async () => {
  const { headers, body } = await sent('Forgejo');
  const delivery = delivered({ headers: { ...headers, 'x-forgejo-signature': '0'.repeat(64) }, body });
  assert.equal(receiverOf('Forgejo').verify(delivery, secrets, now), false);
});

const token = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

test('GitLab: a signature by a signing token is good for five minutes, either way', async () => {
  const payload = callers.GitLab.push(facts);
  const seconds = Math.floor(now.getTime() / 1000);
  for (const [age, isGood] of [
    [0, true],
    [290, true],
    [-290, true],
    [310, false],
    [-310, false],
  ] as const) {
    const delivery = delivered(await sendSignedByGitLab(token, payload, seconds - age));
    assert.equal(receiverOf('GitLab').verify(delivery, [Buffer.from(token)], now), isGood, `${age} s old`);
  }
});

test('GitLab: one of several signatures is enough, over the same id, time and body', async () => {
  const { headers, body } = await sendSignedByGitLab(token, callers.GitLab.push(facts));
  const key = [Buffer.from(token)];
  const several = { ...headers, 'webhook-signature': `v1a,x v1,AAAA ${headers['webhook-signature']}` };
  assert.ok(receiverOf('GitLab').verify(delivered({ headers: several, body }), key, now));
  for (const change of [
    { 'webhook-id': 'another' },
    { 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
    { 'webhook-timestamp': '1e9' },
    { 'webhook-signature': `v2,${headers['webhook-signature']?.slice(3)}` },
  ]) {
    assert.equal(receiverOf('GitLab').verify(delivered({ headers: { ...headers, ...change }, body }), key, now), false);
  }
  assert.equal(receiverOf('GitLab').verify(delivered({ headers, body: `${body} ` }), key, now), false);
});

test('Bitbucket: a push tells of several refs; made and deleted ones are told by no commit', () => {
  const payload = {
    repository: { full_name: 'platform/etcd' },
    push: {
      changes: [
        { old: null, new: { type: 'branch', name: 'new', target: { hash: facts.after } } },
        { old: { type: 'branch', name: 'old', target: { hash: facts.before } }, new: null },
        { old: null, new: { type: 'tag', name: 'v1', target: { hash: facts.after } } },
      ],
    },
  };
  const delivery = delivered({ headers: { 'x-event-key': 'repo:push' }, body: JSON.stringify(payload) });
  assert.deepEqual(
    receiverOf('BitbucketCloud')
      .read(delivery)
      .map((event) => event.kind === 'push' && [event.ref, event.before, event.after]),
    [
      ['refs/heads/new', noCommit, facts.after],
      ['refs/heads/old', facts.before, noCommit],
      ['refs/tags/v1', noCommit, facts.after],
    ],
  );
});

test('Azure DevOps: a delivery that is told to leave out details means: look', async () => {
  for (const eventType of ['git.push', 'git.pullrequest.updated'])
    for (const resource of [null, undefined, { pushId: 14, url: 'https://dev.azure.com/org/_apis/x' }]) {
      const { headers, body } = await callers.AzureDevOps.send(secret, '', { id: '1', eventType, resource });
      assert.deepEqual(receiverOf('AzureDevOps').read(delivered({ headers, body })), [{ kind: 'look' }]);
    }
});

for (const [followed, ref, isSame] of [
  ['main', 'refs/heads/main', true],
  ['refs/heads/main', 'refs/heads/main', true],
  ['v1.0', 'refs/tags/v1.0', true],
  ['main', 'refs/heads/release', false],
  // Which branch that is no delivery tells for certain.
  ['HEAD', 'refs/heads/trunk', true],
  ['HEAD', 'refs/tags/v1.0', false],
] as const)
  test(`a fleet that follows ${followed} ${isSame ? 'is told' : 'is not told'} of ${ref}`, () => {
    assert.equal(isSameRef(followed, ref), isSame);
    if (ref.startsWith('refs/heads/')) assert.equal(isSameBranch(followed, ref.slice('refs/heads/'.length)), isSame);
  });

test('Generic: a body that says nothing means: look', async () => {
  for (const body of ['', 'deployed', '{}', '{"anything": [1]}']) {
    const { headers } = await callers.Generic.send(secret, '', body);
    const contentType = body.startsWith('{') ? 'application/json' : 'text/plain';
    const delivery = delivered({ headers: { ...headers, 'content-type': contentType }, body });
    assert.ok(receiverOf('Generic').verify(delivery, secrets, now));
    assert.deepEqual(receiverOf('Generic').read(delivery), [{ kind: 'look' }]);
  }
});
