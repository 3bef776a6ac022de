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
      } else assert.equal(event.kind, 'ignored');
    }
  });
}
