import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { checksumFor, download, isReachable, type Release } from '../../support/cluster/binaries/download.ts';
import { bareMachine } from './fake-tools.ts';

const never = new AbortController().signal;
const digest = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

async function releaseServer(answer: RequestListener): Promise<Release & AsyncDisposable> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tool`;
  return {
    url,
    checksumUrl: `${url}.sha256`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function serve(files: Readonly<Record<string, Buffer | string>>): RequestListener {
  return ({ url = '' }, response) => {
    const body = files[url];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  };
}

test('a release is taken when it is what its published checksum says', async () => {
  await using machine = await bareMachine();
  await using release = await releaseServer(serve({ '/tool': 'binary', '/tool.sha256': digest('binary') }));
  const file = join(machine.directory, 'tool');
  await download(release, file, never);
  assert.equal(await readFile(file, 'utf8'), 'binary');
});

test('other bytes than the checksum says are refused, both digests named', async () => {
  await using machine = await bareMachine();
  await using release = await releaseServer(serve({ '/tool': 'tampered', '/tool.sha256': digest('binary') }));
  const expected = new RegExp(`has SHA-256 ${digest('tampered')}, published is ${digest('binary')}`);
  await assert.rejects(download(release, join(machine.directory, 'tool'), never), expected);
});

test('from an archive, only the binary is taken', async () => {
  await using machine = await bareMachine();
  await mkdir(join(machine.directory, 'etcd-v1'));
  await writeFile(join(machine.directory, 'etcd-v1/etcd'), 'the binary');
  await writeFile(join(machine.directory, 'etcd-v1/README.md'), 'text');
  const archive = execFileSync('tar', ['-czf', '-', '-C', machine.directory, 'etcd-v1']);
  await using server = await releaseServer(
    serve({ '/tool': archive, '/tool.sha256': `${digest('x')}  other\n${digest(archive)}  tool\n` }),
  );
  await mkdir(join(machine.directory, 'out'));
  const file = join(machine.directory, 'out/etcd-3');
  await download({ url: server.url, checksumUrl: server.checksumUrl, member: 'etcd-v1/etcd' }, file, never);
  assert.equal(await readFile(file, 'utf8'), 'the binary');
});

for (const [what, answer, expected] of [
  ['is there', serve({ '/tool': 'x' }), true],
  ['is not there', serve({}), false],
  ['never answers', () => {}, false],
] as const) {
  test(`a release that ${what} is ${expected ? '' : 'not '}reachable`, async () => {
    await using release = await releaseServer(answer);
    assert.equal(await isReachable(release, never, 300), expected);
  });
}

const release: Release = { url: 'http://example.com/a/etcd.tar.gz', checksumUrl: 'http://example.com/a/SUMS' };
const [one, other] = [digest('1'), digest('2')];

for (const [what, published] of [
  ['a digest alone', one],
  ['a digest and a newline', `${one}\n`],
  ['a list', `${other}  other.tar.gz\n${one}  etcd.tar.gz\n`],
  ['a list of binary files', `${other} *other.tar.gz\n${one} *etcd.tar.gz\n`],
] as const) {
  test(`${what} is a checksum`, () => assert.equal(checksumFor(release, published), one));
}

for (const published of ['', '<html>not found</html>', `${other}  other.tar.gz\n`, 'abc  etcd.tar.gz']) {
  test(`${JSON.stringify(published.slice(0, 20))} holds no checksum for the file`, () => {
    assert.throws(() => checksumFor(release, published), /SUMS does not name etcd\.tar\.gz/);
  });
}
