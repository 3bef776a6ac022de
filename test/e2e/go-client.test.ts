import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { putCertificates } from '../consumers/certificates.ts';
import { born, chaptersOf } from '../consumers/chapters.ts';
import { startGoClient } from '../consumers/go-client/program.ts';
import { tools } from '../support/cluster/tools.ts';
import { scene } from './support/scene.ts';
import { until } from './support/until.ts';

/** etcd's own Go client, as most programs have it: writes, a watch from the first revision, and a lease. */
const binary = await tools.goClient.provide();
const stage = scene();
const name = 'orders';
/** In milliseconds, of any chapter. Its lease lives for 15 s. */
const longestGap = 10_000;

test('a program with etcd’s Go client outlives all that happens to its etcd', async (t) => {
  await born({ stage, name });
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'go-client-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const reached = await stage().access(name);
  await putCertificates(directory, reached);
  const client = stack.use(startGoClient(binary, directory, reached));

  const renew = async () => putCertificates(directory, await stage().accessNow(name));
  const words = () => JSON.stringify(client.now());
  for (const { what, happens } of chaptersOf({ stage, name, renew, words })) {
    client.begin(what);
    await happens();
    const before = client.now();
    const goesOn = () => client.now().acknowledged >= before.acknowledged + 20 && client.now().seen >= before.seen + 20;
    await until(`${what}: it writes, and its watch sees that`, async () => goesOn(), { within: 60, last: words });
    const { acknowledged, longestGap: gap, longestLag: lag, problem = 'no error' } = client.now();
    t.diagnostic(`${what}: ${acknowledged} writes, at most ${gap} ms apart; events at most ${lag} ms late; ${problem}`);
    assert.ok(gap < longestGap, `${what}: ${gap} ms without service`);
  }

  const { acknowledged, lost, missed, leaseLost, renewals } = await client.finish();
  t.diagnostic(`${acknowledged} writes, and its watch saw all of them`);
  assert.deepEqual([lost ?? [], missed ?? [], leaseLost], [[], [], 0]);
  assert.ok(renewals > 0, 'it took up the new certificates');
});
