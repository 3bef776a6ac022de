import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { putCertificates } from '../consumers/certificates.ts';
import { born } from '../consumers/chapters.ts';
import { etcdctl, goClient, nodeClient } from '../consumers/clients.ts';
import { liveThrough } from '../consumers/consumer.ts';
import { provisionBinaries } from '../support/cluster/binaries.ts';
import { tools } from '../support/cluster/tools.ts';
import { scene } from './support/scene.ts';

/** etcd's own Go client and etcd3 for Node, each with writes, a watch from the first revision, and a lease; etcdctl. */
const [go, binaries] = [await tools.goClient.provide(), await provisionBinaries()];
const stage = scene();
const name = 'orders';
/**
 * In milliseconds, of any chapter. etcd may leave a write without an answer when its leader ends: then a program waits
 * for its own time-out of 3 or 5 s, and etcd3 for Node for 5 s more, until its circuit breaker closes.
 */
const longestGap = 15_000;

test('etcd’s Go client, etcd3 for Node and etcdctl outlive all that happens to their etcd', async (t) => {
  await born({ stage, name });
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'clients-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const reached = await stage().access(name);
  await putCertificates(directory, reached);
  const consumers = [
    goClient(go, directory, reached),
    nodeClient(directory, reached),
    etcdctl(binaries.etcdctl, directory, reached),
  ].map((one) => stack.use(one));
  const renew = async () => putCertificates(directory, await stage().accessNow(name));
  await liveThrough(t, { stage, name, renew }, consumers, (gap) => gap < longestGap);
});
