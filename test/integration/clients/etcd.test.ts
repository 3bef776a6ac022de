/** The etcd client against real etcd processes of every supported minor: healthy, frozen, dead, without quorum. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSilentServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { build } from 'esbuild';
import { until } from '../../e2e/support/until.ts';
import { startStopwatch } from '../../support/awake.ts';
import { etcdVersions, provisionBinaries } from '../../support/cluster/binaries.ts';
import { post, startMembers, type TestMember } from './etcd-members.ts';
import { failing, open, within } from './etcd-membership-asking.ts';

const { etcd: binaries } = await provisionBinaries();

for (const version of etcdVersions) {
  describe(`etcd ${version}`, { concurrency: 6 }, () => {
    test('a single member says who it is', async () => {
      await using cluster = await startMembers(binaries[version], 1);
      using etcd = open();
      const [endpoint = ''] = urls(cluster.members);
      const list = await etcd.members([endpoint], within(5_000, { barrier: true }));
      const truth = (await post(endpoint, '/v3/cluster/member/list', {})) as unknown as Gateway;
      assert.equal(list.clusterId, BigInt(truth.header.cluster_id).toString(16));
      assert.deepEqual(list.members, [
        {
          id: BigInt(truth.members[0]?.ID ?? '').toString(16),
          name: 'm0',
          peerURLs: [cluster.members[0]?.peerUrl],
          clientURLs: [endpoint],
          isLearner: false,
        },
      ]);
      const status = await etcd.status(endpoint, within(5_000));
      const id = list.members[0]?.id;
      assert.partialDeepStrictEqual(status, { memberId: id, leader: id, version, isLearner: false, errors: [] });
      assert.equal(status.clusterId, list.clusterId);
      assert.ok(status.raftIndex >= status.raftAppliedIndex && status.raftAppliedIndex > 0n && status.raftTerm >= 2n);
      assert.ok(status.dbSize >= status.dbSizeInUse && status.dbSizeInUse > 0n && status.revision === 1n);
      const minor = version.split('.').slice(0, 2).join('.');
      assert.deepEqual(await etcd.version(endpoint, within(5_000)), { server: version, cluster: `${minor}.0` });
    });

    test('each of three members answers for itself; a frozen or dead one does not delay the list', async () => {
      await using cluster = await startMembers(binaries[version], 3);
      using etcd = open();
      const { members } = await etcd.members(urls(cluster.members), within(5_000));
      const ids = new Map(members.map(({ name, id }) => [name, id]));
      const statuses = await Promise.all(cluster.members.map(({ clientUrl }) => etcd.status(clientUrl, within(5_000))));
      assert.deepEqual(
        statuses.map(({ memberId }) => memberId),
        cluster.members.map(({ name }) => ids.get(name)),
      );

      const leader = statuses[0]?.leader;
      const [follower, second] = cluster.members.filter(({ name }) => ids.get(name) !== leader);
      const leading = cluster.members.find(({ name }) => ids.get(name) === leader);
      assert.ok(follower && second && leading);

      await follower.freeze();
      const hedged = await timed(() =>
        etcd.members([follower, leading, second].map(urlOf), within(5_000, { barrier: true })),
      );
      assert.equal(hedged.value.members.length, 3);
      assert.ok(hedged.ms >= 250 && hedged.ms < 1_500, `${hedged.ms} ms`);
      const frozen = await timed(() => failing(etcd.status(follower.clientUrl, within(700))));
      assert.equal(frozen.value.outcome, 'ambiguous');
      assert.ok(frozen.ms < 1_200, `${frozen.ms} ms`);
      assert.equal((await failing(etcd.version(follower.clientUrl, within(300)))).outcome, 'ambiguous');
      follower.thaw();
      await until('the thawed member', () => etcd.status(follower.clientUrl, within(1_000)), { within: 20 });

      await second.kill();
      const dead = await timed(() => etcd.members([second, leading].map(urlOf), within(5_000, { barrier: true })));
      assert.ok(dead.ms < 1_000, `${dead.ms} ms`);
      const down = await failing(etcd.status(second.clientUrl, within(5_000)));
      assert.equal(down.outcome, 'down');
      assert.ok(down.message.includes(second.clientUrl) && down.message.includes('ECONNREFUSED'), down.message);

      await follower.freeze();
      const lost = await timed(() => failing(etcd.members(urls(cluster.members), within(4_000, { barrier: true }))));
      assert.equal(lost.value.outcome, 'ambiguous');
      assert.ok(lost.ms < 3_500, `${lost.ms} ms`);
      for (const url of urls(cluster.members)) assert.ok(lost.value.message.includes(url), lost.value.message);
      // Status needs no quorum: it is how one finds out.
      assert.equal((await etcd.status(leading.clientUrl, within(2_000))).memberId, leader);
      follower.thaw();
      const answered = () => etcd.members(urls(cluster.members), within(3_000, { barrier: true }));
      assert.equal((await until('quorum', answered, { within: 20 })).members.length, 3);
    });

    test('a learner is listed, and cannot be asked for the list', async () => {
      await using cluster = await startMembers(binaries[version], 1);
      using etcd = open();
      const { member, start } = await cluster.addLearner();
      const listed = (await etcd.members(urls(cluster.members), within(5_000))).members.find(
        ({ isLearner }) => isLearner,
      );
      assert.partialDeepStrictEqual(listed, { name: '', peerURLs: [member.peerUrl], clientURLs: [] });
      await start();
      const asked = () => etcd.status(member.clientUrl, within(2_000));
      assert.equal((await until('the learner', asked)).isLearner, true);
      const refusal = await failing(etcd.members([member.clientUrl], within(5_000)));
      assert.equal(refusal.outcome, 'refused');
      assert.match(refusal.message, /learner/);
      const both = await timed(() => etcd.members([member.clientUrl, ...urls(cluster.members)], within(5_000)));
      assert.equal(both.value.members.length, 2);
      assert.ok(both.ms < 1_000, `${both.ms} ms`);
    });
  });
}

// etcd3 closes every channel of a client when one call is cancelled: a slow member was taken for one that is down.
test('a status outlives the member list that was given up at the same slow member', async () => {
  await using cluster = await startMembers(binaries['3.6.16'], 3);
  using etcd = open();
  const everybody = () => Promise.all(urls(cluster.members).map((url) => etcd.status(url, within(1_000))));
  const statuses = await until('every member', everybody);
  const leads = (n: number) => statuses[n]?.memberId === statuses[n]?.leader;
  const slow = cluster.members.find((_, n) => !leads(n));
  const other = cluster.members.find((_, n) => leads(n));
  assert.ok(slow && other);
  using fresh = open();
  await slow.freeze();
  const status = fresh.status(slow.clientUrl, within(5_000)).catch((error: unknown) => error);
  const { members } = await fresh.members([slow, other].map(urlOf), within(5_000));
  slow.thaw();
  const id = members.find(({ name }) => name === slow.name)?.id;
  const said = await status;
  assert.ok(!(said instanceof Error), String(said));
  assert.partialDeepStrictEqual(said, { memberId: id });
});

test('a process ends at once after close, whatever is still asked of frozen endpoints', async () => {
  // Accepts and says nothing, like a process that was stopped.
  await using silent = await listen(createSilentServer((socket) => socket.on('error', () => {})));
  const module = new URL('../../../reconcile/clients/etcd.ts', import.meta.url).href;
  const script = `
    const { connectEtcd } = await import(${JSON.stringify(module)});
    const etcd = connectEtcd({ callTimeoutMs: 20_000 });
    const signal = new AbortController().signal;
    const calls = [etcd.status('${silent.url}', { signal }), etcd.members(['${silent.url}'], { signal, barrier: true }), etcd.version('${silent.url}', { signal })];
    setTimeout(() => {
      etcd.close();
      const closed = performance.now();
      process.once('exit', () => process.stdout.write(String(performance.now() - closed)));
    }, 500);
    const results = await Promise.allSettled(calls);
    if (results.some(({ reason }) => !/the etcd client was closed/.test(reason?.message))) process.exitCode = 9;
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  const [code] = await once(child, 'close', { signal: AbortSignal.timeout(15_000) });
  assert.equal(code, 0);
  assert.ok(said !== '' && Number(said) < 500, `${said} ms after close`);
});

// A bundle gives a CommonJS package that is imported dynamically no named exports: etcd3 was not found in what we ship.
test('bundled as it is shipped, it speaks to etcd as well', async () => {
  await using cluster = await startMembers(binaries['3.6.16'], 1);
  const directory = await mkdtemp(join(tmpdir(), 'ratchet-bundle-'));
  try {
    const entry = join(directory, 'ask.ts');
    const client = new URL('../../../reconcile/clients/etcd.ts', import.meta.url).pathname;
    await writeFile(
      entry,
      `import { connectEtcd } from ${JSON.stringify(client)};
       const etcd = connectEtcd();
       const { members } = await etcd.members([process.argv[2] ?? ''], { signal: AbortSignal.timeout(5_000) });
       process.stdout.write(String(members[0]?.name));`,
    );
    const js =
      "import { createRequire } from 'node:module';" +
      'const require = createRequire(import.meta.url), __dirname = import.meta.dirname;';
    const outdir = join(directory, 'dist/chunks');
    await build({
      entryPoints: [entry],
      outdir,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      banner: { js },
    });
    await cp(new URL('../../../node_modules/etcd3/proto', import.meta.url), join(directory, 'dist/proto'), {
      recursive: true,
    });
    await writeFile(join(outdir, 'package.json'), '{ "type": "module" }');
    const child = spawn(process.execPath, [join(directory, 'dist/chunks/ask.js'), ...urls(cluster.members)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += String(chunk);
    });
    const [code] = await once(child, 'close', { signal: AbortSignal.timeout(15_000) });
    assert.deepEqual([code, said], [0, 'm0']);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('what is not asked was not asked: no endpoint, no time, closed', async () => {
  const etcd = open();
  assert.equal((await failing(etcd.members([], within(1_000)))).outcome, 'down');
  const late = { signal: AbortSignal.abort() };
  assert.equal((await failing(etcd.members(['http://127.0.0.1:1'], late))).outcome, 'down');
  assert.equal((await failing(etcd.status('http://127.0.0.1:1', late))).outcome, 'down');
  etcd.close();
  assert.match((await failing(etcd.status('http://127.0.0.1:1', within(1_000)))).message, /closed/);
});

test('a name that does not exist is down, whatever proxy the environment names', async () => {
  using etcd = open();
  process.env.http_proxy = 'http://127.0.0.1:1';
  try {
    const error = await failing(etcd.status('http://nowhere.invalid:2379', within(3_000)));
    assert.equal(error.outcome, 'down');
    assert.match(error.message, /nowhere\.invalid/);
  } finally {
    delete process.env.http_proxy;
  }
});

for (const [what, answer] of [
  ['an error page', (_request, response) => response.writeHead(502).end('<html>')],
  ['nonsense', (_request, response) => response.end('<html>')],
  ['JSON of something else', (_request, response) => response.end('{"version":"1.0"}')],
  ['a null', (_request, response) => response.end('null')],
  ['no end', (_request, response) => void setInterval(() => response.write('x'.repeat(65_536)), 1).unref()],
] as const satisfies readonly (readonly [string, RequestListener])[]) {
  test(`${what} instead of a version is an error that names the endpoint`, async () => {
    await using server = await serve(answer);
    using etcd = open();
    const error = await failing(etcd.version(server.url, within(3_000)));
    assert.ok(error.message.includes(server.url), error.message);
    assert.notEqual(error.outcome, 'down');
    assert.ok((await failing(etcd.status(server.url, within(1_000)))).message.includes(server.url));
  });
}

interface Gateway {
  readonly header: { readonly cluster_id: string };
  readonly members: readonly { readonly ID: string }[];
}

function urls(members: readonly TestMember[]): string[] {
  return members.map(urlOf);
}

function urlOf({ clientUrl }: TestMember): string {
  return clientUrl;
}

async function timed<T>(run: () => Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  using watch = startStopwatch();
  const value = await run();
  return { value, ms: watch.milliseconds() };
}

function serve(answer: RequestListener): Promise<AsyncDisposable & { readonly url: string }> {
  return listen(createServer(answer));
}

async function listen(server: Server): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}
