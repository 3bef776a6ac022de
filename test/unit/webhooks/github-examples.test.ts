import assert from 'node:assert/strict';
import { test } from 'node:test';
import examples from '@octokit/webhooks-examples' with { type: 'json' };
import { sign } from '@octokit/webhooks-methods';
import { receiverOf } from '../../../gitops/webhooks/receivers.ts';

/** What GitHub really sent, signed by GitHub's own library. */

const secrets = [Buffer.from("It's a Secret to Everybody")];
const now = new Date();

interface Example {
  readonly ref: string;
  readonly before: string;
  readonly after: string;
  readonly number: number;
  readonly merge_group: { readonly base_ref: string; readonly head_ref: string };
  readonly pull_request: { readonly base: { readonly ref: string } };
  readonly repository: { readonly clone_url: string };
}

async function delivery(event: string, body: string) {
  const headers: Record<string, string> = {
    'x-github-event': event,
    'x-hub-signature-256': await sign(String(secrets[0]), body),
    'content-type': 'application/json',
  };
  return { header: (name: string) => headers[name], body: Buffer.from(body) };
}

for (const { name, examples: all } of examples as unknown as readonly {
  readonly name: string;
  readonly examples: readonly Example[];
}[]) {
  test(`each of ${all.length} examples of ${name} is verified, and read for what it is`, async () => {
    assert.ok(all.length > 0);
    for (const example of all) {
      const given = await delivery(name, JSON.stringify(example));
      assert.ok(receiverOf('GitHub').verify(given, secrets, now));
      const [event] = receiverOf('GitHub').read(given);
      assert.ok(event);
      if (name === 'ping') assert.equal(event.kind, 'ping');
      else if (name === 'push') {
        const { ref, before, after, repository } = example;
        assert.partialDeepStrictEqual(event, { kind: 'push', ref, before, after });
        assert.ok(event.kind === 'push' && event.repositoryUrls.includes(repository.clone_url));
      } else if (name === 'pull_request' && event.kind === 'request') {
        assert.deepEqual([event.number, event.target], [String(example.number), example.pull_request.base.ref]);
      } else if (name === 'merge_group' && event.kind === 'request') {
        assert.equal(`refs/heads/${event.target}`, example.merge_group.base_ref);
        assert.ok(example.merge_group.head_ref.includes(`/pr-${event.number}-`));
      } else assert.equal(event.kind, 'ignored');
    }
  });
}

function queued(changes: object = {}) {
  const base = 'b'.repeat(40);
  const group = { head_sha: 'a'.repeat(40), head_ref: `refs/heads/gh-readonly-queue/release/1.2/pr-17-${base}` };
  const about = { base_sha: base, base_ref: 'refs/heads/release/1.2' };
  const repository = { clone_url: 'https://github.com/octo/etcd.git' };
  return { action: 'checks_requested', merge_group: { ...group, ...about }, repository, ...changes };
}

test('a commit of the merge queue that waits for checks is a request for its branch', async () => {
  const readOf = async (payload: object) =>
    receiverOf('GitHub').read(await delivery('merge_group', JSON.stringify(payload)))[0];
  const repositoryUrls = ['https://github.com/octo/etcd.git'];
  assert.deepEqual(await readOf(queued()), { kind: 'request', repositoryUrls, target: 'release/1.2', number: '17' });
  assert.equal((await readOf(queued({ action: 'destroyed' })))?.kind, 'ignored');
  const { merge_group: group } = queued();
  const renamed = await readOf(queued({ merge_group: { ...group, head_ref: 'refs/heads/queued/17' } }));
  assert.deepEqual(renamed, { kind: 'request', repositoryUrls, target: 'refs/heads/release/1.2', number: '0' });
  await assert.rejects(readOf(queued({ merge_group: {} })), { name: 'MalformedDelivery' });
});
