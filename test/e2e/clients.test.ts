import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { putCertificates } from '../consumers/certificates.ts';
import { born } from '../consumers/chapters.ts';
import { etcdctl, goClient, nodeClient, traefik, vitess } from '../consumers/clients.ts';
import { liveThrough } from '../consumers/consumer.ts';
import { provisionBinaries } from '../support/cluster/binaries.ts';
import { tools } from '../support/cluster/tools.ts';
import { scene } from './support/scene.ts';

/** Client libraries, each with writes and a watch from the first revision, most with a lease; and etcdctl. */
const [go, libraries] = [await tools.goClient.provide(), await tools.libraries.provide()];
const binaries = await provisionBinaries();
const stage = scene();
const name = 'orders';
/**
 * In milliseconds, of any chapter. etcd may leave a write without an answer when its leader ends: then a program waits
 * for its own time-out: of 3 or 5 s, of 15 s in Vitess, and of 5 s more for etcd3 for Node's circuit breaker.
 */
const longestGap = 20_000;

test('clients of etcd, Traefik’s and Vitess’ among them, outlive all that happens to their etcd', async (t) => {
  await born({ stage, name });
  // Some know members by the address that they connect to.
  const { hostname } = new URL((await stage().access(name)).url);
  const tls = { dnsNames: [hostname] };
  await born({ stage, name, tls });
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'clients-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const reached = await stage().access(name);
  await putCertificates(directory, reached);
  const consumers = [
    goClient(go, directory, reached),
    nodeClient(directory, reached),
    traefik(libraries.traefik, directory, reached),
    vitess(libraries.vitess, directory, reached),
    etcdctl(binaries.etcdctl, directory, reached),
  ].map((one) => stack.use(one));
  const renew = async () => putCertificates(directory, await stage().accessNow(name));
  await liveThrough(t, { stage, name, tls, renew }, consumers, (gap) => gap < longestGap);
});
