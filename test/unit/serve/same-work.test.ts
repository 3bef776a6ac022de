import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { after, mock, test } from 'node:test';
import { composed } from '../../../functions/serve/serve.ts';
import { webhooks } from '../../../functions/serve/webhooks.ts';
import { webhookTypes } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { callers, type Sent, sendSignedByGitLab } from '../../support/webhooks/deliveries.ts';
import { env, fleet, installation, seedSecret, url } from './installation.ts';

/** What a refusal costs must tell no stranger which fleets there are. It is counted, not timed. */

/** Blocks of 64 bytes that went through SHA-256, for each HMAC. */
const hashed: number[] = [];
const createHmac = crypto.createHmac;
mock.method(crypto, 'createHmac', (...asked: Parameters<typeof createHmac>) => {
  const made = createHmac(...asked);
  const update = made.update.bind(made) as (bytes: Uint8Array) => crypto.Hmac;
  const counting = (bytes: Uint8Array) => {
    hashed.push(blocksOf(bytes));
    return update(bytes);
  };
  return Object.assign(made, { update: counting });
});

function blocksOf({ length }: Uint8Array): number {
  return Math.ceil((length + 9) / 64);
}

syncBuiltinESMExports();
after(() => {
  mock.restoreAll();
  syncBuiltinESMExports();
});

const stop = new AbortController().signal;
const push = { url, ref: 'refs/heads/main', before: '1'.repeat(40), after: 'a'.repeat(40) };
const secretNames = ['webhook', 'rotated', 'empty', 'keyless', 'foreign', 'absent'] as const;
const strangers = ['unknown', '__proto__', 'deaf', 'GitHub'];

function manyFleets(): { readonly kube: ReturnType<typeof installation>; readonly names: readonly string[] } {
  const kube = installation();
  seedSecret(kube, 'rotated', { secret: 'secret', previousSecret: 'older' });
  seedSecret(kube, 'empty', { secret: '' });
  seedSecret(kube, 'keyless', { token: 'secret' });
  seedSecret(kube, 'foreign', { secret: 'secret' }, {});
  const { webhook: _, ...without } = fleet('deaf').spec;
  kube.seed(resources.fleets, { ...fleet('deaf'), spec: without });
  const known = webhookTypes.flatMap((type) =>
    secretNames.map((secretName) => fleet(`${type}-${secretName}`.toLowerCase(), { webhook: { type, secretName } })),
  );
  for (const one of known) kube.seed(resources.fleets, one);
  return { kube, names: [...known.map(({ metadata }) => metadata.name), ...strangers] };
}

/** Deliveries with a wrong secret, of each kind of caller; and one with the headers of all. */
async function refusable(): Promise<Readonly<Record<string, Sent>>> {
  const body = callers.GitHub.push(push);
  const each = await Promise.all(
    webhookTypes.map(
      async (type) => [type, await callers[type].send('wrong', callers[type].events.push, body)] as const,
    ),
  );
  const signed = await sendSignedByGitLab('wrong', body);
  const all = {
    headers: Object.assign({}, signed.headers, ...each.map(([, { headers }]) => headers)),
    body: signed.body,
  };
  return { ...Object.fromEntries(each), 'signed by GitLab': signed, 'with all headers': all };
}

for (const [what, { headers, body }] of Object.entries(await refusable())) {
  test(`a refusal takes the same work for every fleet, known or not: a delivery ${what}`, async () => {
    const seen = new Map<string, string[]>();
    const { names } = manyFleets();
    for (const name of names) {
      const { kube } = manyFleets();
      const group = await webhooks({ kube, log: () => undefined, env, version: '0', stop });
      const app = composed([group], stop);
      const work = [];
      // The first of its fleet, and one that finds what the first has asked for.
      for (let n = 0; n < 2; n++) {
        hashed.length = 0;
        const response = await app.request(`/hooks/etcd-ratchet/${name}`, { method: 'POST', headers, body });
        assert.equal(response.status, 401, name);
        work.push({ hashed: hashed.toSorted((a, b) => a - b), asked: kube.requests() });
      }
      const told = JSON.stringify(work);
      seen.set(told, [...(seen.get(told) ?? []), name]);
      assert.ok(hashed.length > 0, 'this test counts something');
      assert.deepEqual(kube.requests(), { 'LIST etcdfleets': 1, 'GET secrets': 1 });
    }
    assert.equal(seen.size, 1, [...seen].map(([work, of]) => `${of.join()}: ${work}`).join('\n'));
  });
}

test('however many headers ask for it, a body is hashed twice for those that sign it', async () => {
  const { headers, body } = (await refusable())['with all headers'] ?? assert.fail();
  const { kube } = manyFleets();
  const app = composed([await webhooks({ kube, log: () => undefined, env, version: '0', stop })], stop);
  hashed.length = 0;
  await app.request('/hooks/etcd-ratchet/unknown', { method: 'POST', headers, body });
  // Two keys for the body alone, and two for GitLab's, which signs its id and the time, too.
  assert.equal(hashed.filter((blocks) => blocks >= blocksOf(Buffer.from(body))).length, 4);
});
