import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodePacket } from '../../gitops/git/wire/pktline.ts';
import { gitEnvironment } from '../support/git/git.ts';
import type { GitServer } from '../support/git/server.ts';
import { clusterYaml } from './stage.ts';

const mebibyte = 1024 * 1024;
const head = 'kind: EtcdCluster\n';
const document = 'apiVersion: etcd.ratchet.dev/v1alpha1\nkind: EtcdCluster\nmetadata: {name: a}\n---\n';

/** Files of a megabyte that were written to cost time. */
export const hostileFiles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '12,000 copies of one document': { 'a.yaml': document.repeat(12_000) },
  'the same in ten files': Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`${n}.yaml`, document.repeat(12_000)]),
  ),
  '0.9 MB of brackets': { 'a.yaml': `${head}a: ${'['.repeat(900_000)}` },
  'as many words as one document may have': { 'a.yaml': `${head}a: [${'{b},'.repeat(19_000)}]` },
  'aliases that expand': {
    'a.yaml': `${head}a: &a [x,x,x]\n${'bcdefghij'.replaceAll(/./g, (it) => `${it}: &${it} [*${String.fromCharCode(it.charCodeAt(0) - 1)},*${String.fromCharCode(it.charCodeAt(0) - 1)}]\n`)}`,
  },
  'a key of 1 MB': { 'a.yaml': `${head}${'k'.repeat(1_000_000)}: 1` },
  '2,000 folders in each other': { [`${'d/'.repeat(2_000)}a.yaml`]: head },
  '100,000 files': Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`d${n % 300}/${n}.yaml`, ''])),
};

/** One blob, which git packs into a thousandth. Made when it is asked for. */
export const largeFile = {
  mebibytes: 128,
  files: (): Readonly<Record<string, string>> => ({
    'a.yaml': `${head}metadata: {name: a}\n`,
    'dump.yaml': '\0'.repeat(largeFile.mebibytes * mebibyte),
  }),
};

/** A bare repository of random bytes, and a hundred specs. `mebibytes`: of files that are none of ours. */
export async function largeRepository(
  server: GitServer,
  name: string,
  { mebibytes, filter }: { readonly mebibytes: number; readonly filter: boolean },
): Promise<string> {
  const repository = await server.createRepository(name);
  await repository.git('config', 'uploadpack.allowFilter', String(filter));
  // Random bytes only take time to compress.
  await repository.git('config', 'core.compression', '0');
  await repository.git('config', 'pack.compression', '0');
  const child = spawn('git', ['fast-import', '--quiet'], { cwd: repository.directory, env: gitEnvironment() });
  const write = async (part: string | Buffer) => {
    if (!child.stdin.write(part)) await once(child.stdin, 'drain');
  };
  await write('commit refs/heads/main\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 1\nx\n');
  for (let n = 0; n < mebibytes; n++) {
    await write(`M 100644 inline media/${n % 100}/${n}.bin\ndata ${mebibyte}\n`);
    // Each its own: git would write one that is like another as a few bytes.
    await write(randomBytes(mebibyte));
    await write('\n');
  }
  for (let n = 0; n < 100; n++) {
    const text = clusterYaml(`bench-${n}`, 3);
    await write(`M 100644 inline clusters/${n}.yaml\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  }
  child.stdin.end();
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  return repository.url;
}

/** Servers that send a quarter of a gigabyte of what is no file. */
export async function startHostileServer(): Promise<{ readonly url: string } & Disposable> {
  const sha = 'a'.repeat(40);
  const mebibytes = 250;
  const server = createServer((request, response) => {
    const isRefs = request.method === 'GET';
    const type = isRefs ? 'advertisement' : 'result';
    response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${type}` });
    response.write(encodePacket('# service=git-upload-pack\n'));
    if (isRefs) response.write(`0000${encodePacket(`${sha} HEAD\0side-band-64k ofs-delta filter\n`)}`);
    if (isRefs && !request.url?.startsWith('/refs')) {
      response.end(`${encodePacket(`${sha} refs/heads/main\n`)}0000`);
      return;
    }
    const kind = isRefs ? 'refs' : (request.url?.split('/')[1] ?? '');
    const line = {
      refs: encodePacket(`${sha} refs/heads/${'x'.repeat(900)}\n`),
      progress: encodePacket(`\u0002${'x'.repeat(60_000)}`),
      pack: encodePacket(`\u0001${'x'.repeat(60_000)}`),
    }[kind];
    send(response, Buffer.from((line ?? '0000').repeat(kind === 'refs' ? 60 : 1)), mebibytes * mebibyte);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function send(response: ServerResponse, part: Buffer, left: number): void {
  let rest = left;
  while (rest > 0 && !response.destroyed) {
    rest -= part.length;
    if (!response.write(part)) {
      response.once('drain', () => send(response, part, rest));
      return;
    }
  }
  response.end();
}
