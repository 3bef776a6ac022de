import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { scene } from '../e2e/support/scene.ts';
import { tools } from '../support/cluster/tools.ts';
import { gatewayAccess, putCertificates } from './certificates.ts';
import { born } from './chapters.ts';
import { pythonClient } from './clients.ts';
import { liveThrough } from './consumer.ts';
import { startPatroni } from './patroni/patroni.ts';

/** Programs that come from PyPI and from the distribution, on one cluster: see CONTRIBUTING.md. */
const provided = await tools.consumers.provide();
const stage = scene();
const name = 'orders';
const tls = { gatewayClient: 'Enabled' };
/** In milliseconds, of any chapter. */
const longestGap = 10_000;

test('PostgreSQL under Patroni and etcd3 for Python outlive all that happens to their etcd', async (t) => {
  await born({ stage, name, tls });
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'consumers-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const renew = async () => putCertificates(directory, await gatewayAccess(stage(), name));
  await renew();
  const reached = await stage().access(name);
  const patroni = stack.use(await startPatroni(provided, `${reached.serverName}:2379`, directory));
  const client = stack.use(pythonClient(provided, directory, reached));
  await liveThrough(t, { stage, name, tls, renew }, [patroni, client], (gap) => gap < longestGap);
});
