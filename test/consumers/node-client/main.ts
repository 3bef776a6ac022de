/**
 * A program as many are that use etcd3 for Node, as it is without options: it writes, watches what is written, and
 * keeps a lease alive. It speaks as program.ts says, and follows the files of its certificates.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Etcd3, type Lease, type Watcher } from 'etcd3';

const [, , endpoint = '', serverName = '', directory = ''] = process.argv;
const prefix = 'node/';
/** In milliseconds. */
const [patience, breath] = [3_000, 20];
/** In seconds. */
const leaseTtl = 15;
const files = ['ca.crt', 'tls.crt', 'tls.key'] as const;

const state = {
  acknowledged: 0,
  seen: 0,
  leaseLost: 0,
  compacted: 0,
  renewals: 0,
  chapter: '',
  longestGap: 0,
  longestLag: 0,
  problem: undefined as string | undefined,
};
const acknowledged = new Map<string, number>();
const seen = new Set<string>();
let [revision, last, isOver] = [1, performance.now(), false];
let held = await read();
let client = connect(held);
let watcher: Watcher;
let lease: Lease;

async function read(): Promise<readonly Buffer[]> {
  return Promise.all(files.map((name) => readFile(join(directory, name))));
}

function connect([rootCertificate = Buffer.alloc(0), certChain, privateKey]: readonly Buffer[]): Etcd3 {
  return new Etcd3({
    hosts: endpoint,
    credentials: { rootCertificate, ...(certChain && { certChain }), ...(privateKey && { privateKey }) },
    // The endpoint is an address: there may be no DNS.
    grpcOptions: {
      'grpc.ssl_target_name_override': serverName,
      'grpc.keepalive_time_ms': 2_000,
      'grpc.keepalive_timeout_ms': 2_000,
    },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + patience }),
  });
}

function note(what: string, error: unknown): void {
  state.problem = `${what}: ${error instanceof Error ? error.message : error}`;
}

async function write(): Promise<void> {
  for (let number = 0; !isOver; number++) {
    const key = `${prefix}w/${`${number}`.padStart(6, '0')}`;
    while (!isOver && !(await isWritten(key))) await pause(breath);
    await pause(breath);
  }
}

async function isWritten(key: string): Promise<boolean> {
  try {
    await client.put(key).value('x');
  } catch (error) {
    note('put', error);
    return false;
  }
  const now = performance.now();
  acknowledged.set(key, now);
  state.acknowledged++;
  state.longestGap = Math.max(state.longestGap, Math.round(now - last));
  last = now;
  return true;
}

/** It goes on by itself where a connection is lost: with another client, after the last revision that was seen. */
async function watchWith(using: Etcd3): Promise<Watcher> {
  const found = await using.watch().prefix(`${prefix}w/`).startRevision(`${revision}`).create();
  found.on('put', ({ key, mod_revision }) => {
    saw(`${key}`);
    revision = Math.max(revision, Number(mod_revision) + 1);
  });
  found.on('disconnected', (error) => note('watch', error));
  found.on('error', (error) => {
    if (/compacted/.test(error.message)) state.compacted++;
    note('watch', error);
  });
  return found;
}

function saw(key: string): void {
  if (seen.has(key)) return;
  seen.add(key);
  state.seen++;
  state.longestLag = Math.max(state.longestLag, Math.round(performance.now() - (acknowledged.get(key) ?? Infinity)));
}

/** A lease belongs to its client: with another client there is another one. */
async function leaseWith(using: Etcd3): Promise<Lease> {
  const found = using.lease(leaseTtl);
  found.on('lost', (error) => {
    state.leaseLost++;
    note('lease', error);
  });
  await found
    .put(`${prefix}lease`)
    .value('held')
    .options({ deadline: Date.now() + patience });
  return found;
}

/** Connects anew with other certificates before it lets go of what it has. */
async function follow(): Promise<void> {
  while (!isOver) {
    await pause(250);
    const found = await read();
    if (isDeepStrictEqual(found, held)) continue;
    const next = connect(found);
    try {
      await next.get(`${prefix}lease`);
      const [formerClient, formerWatcher, formerLease] = [client, watcher, lease];
      [client, lease, watcher] = [next, await leaseWith(next), await watchWith(next)];
      [held, state.renewals] = [found, state.renewals + 1];
      formerLease.release();
      await pause(patience);
      await Promise.race([formerWatcher.cancel(), pause(patience)]);
      formerClient.close();
    } catch (error) {
      note('with the new certificates', error);
    }
  }
}

function say(more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ ...state, ...more })}\n`);
}

/** Reads everything back, and waits until the watch has seen it. */
async function finish(): Promise<void> {
  const deadline = performance.now() + 20_000;
  const written = [...acknowledged.keys()];
  let kept: readonly string[] | undefined;
  while (!kept && performance.now() < deadline) {
    kept = await client
      .getAll()
      .prefix(`${prefix}w/`)
      .keys()
      .catch((error) => {
        note('reading back', error);
        return undefined;
      });
    if (!kept) await pause(breath);
  }
  const missed = () => written.filter((key) => !seen.has(key));
  while (missed().length > 0 && performance.now() < deadline) await pause(breath);
  const found = new Set(kept);
  say({ lost: written.filter((key) => !found.has(key)), missed: missed(), ended: true });
}

watcher = await watchWith(client);
lease = await leaseWith(client);
const told = setInterval(() => say(), 200);
const working = [write(), follow()];
for await (const chapter of createInterface({ input: process.stdin }))
  Object.assign(state, { chapter, longestGap: 0, longestLag: 0, problem: undefined });
clearInterval(told);
isOver = true;
await Promise.all(working);
await finish();
process.exit();
