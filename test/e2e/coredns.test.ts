import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { born, chaptersOf } from '../consumers/chapters.ts';
import { startAsker } from '../consumers/coredns/asker.ts';
import { type CoreDns, keyOf, startCoreDns } from '../consumers/coredns/server.ts';
import { tools } from '../support/cluster/tools.ts';
import type { Access } from './support/client.ts';
import { writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';

/** CoreDNS with its plugin `etcd`, which keeps no answer: each question is a read of etcd. */
const binary = await tools.coreDns.provide();
const stage = scene();
const name = 'names';
/** In milliseconds, of any chapter. CoreDNS waits for etcd for 5 s. */
const longestGap = 10_000;
const host = '192.0.2.80';

test('CoreDNS answers from its etcd whatever happens to that', async (t) => {
  await born({ stage, name });
  await using stack = new AsyncDisposableStack();
  // It knows members by the address that it connects to.
  const { hostname } = new URL((await stage().access(name)).url);
  const tls = { dnsNames: [hostname] };
  await born({ stage, name, tls });
  let reached = await stage().access(name);
  await writeKey(reached, keyOf('www'), JSON.stringify({ host }));

  let server: CoreDns = await startCoreDns(binary, reached, 'www');
  stack.defer(() => server[Symbol.asyncDispose]());
  const asker = stack.use(startAsker(() => server.addressOf('www'), host));
  /** It reads certificates once: as a Deployment is rolled, the next one starts before the one before it ends. */
  const renew = async () => {
    const next: Access = await stage().accessNow(name);
    if (isDeepStrictEqual(next.credentials, reached.credentials)) return;
    const before = server;
    [server, reached] = [await startCoreDns(binary, next, 'www'), next];
    await before[Symbol.asyncDispose]();
  };

  const words = () => JSON.stringify(asker.now());
  for (const { what, happens } of chaptersOf({ stage, name, tls, renew, words })) {
    asker.begin();
    await happens();
    const { answers } = asker.now();
    await until(`${what}: it answers`, async () => asker.now().answers >= answers + 20, { within: 60, last: words });
    const { answers: all, longestGap: gap, problem } = asker.now();
    t.diagnostic(`${what}: ${all} answers, at most ${gap} ms apart; ${problem}`);
    assert.ok(gap < longestGap, `${what}: ${gap} ms without an answer`);
  }
  assert.deepEqual(asker.wrong, [], 'no name was denied');
});
