import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { connect } from '../../../gitops/git/http.ts';
import { localNetwork } from '../../support/network.ts';

const advertisement = 'application/x-git-upload-pack-advertisement';

/** Redirects so often, and answers then. */
async function server(redirects: number) {
  let requests = 0;
  const listening = createServer((request, response) => {
    requests += 1;
    if (requests > redirects) response.writeHead(200, { 'content-type': advertisement }).end('refs');
    else response.writeHead(302, { location: `${request.url}&again` }).end();
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/r.git`,
    requests: () => requests,
    [Symbol.asyncDispose]: async () => {
      listening.closeAllConnections();
      listening.close();
    },
  };
}

async function asked(url: string, maxBytes = 1_000_000): Promise<string> {
  using connection = connect({ url, ref: 'main', path: '.' }, { maxBytes }, localNetwork);
  const resource = 'info/refs?service=git-upload-pack';
  const chunks: Buffer[] = [];
  const onData = (chunk: Buffer) => void chunks.push(chunk);
  await connection.send({ method: 'GET', resource, expect: advertisement, onData }, AbortSignal.timeout(10_000));
  return Buffer.concat(chunks).toString();
}

test('three redirects within a host are followed', async () => {
  await using git = await server(3);
  assert.equal(await asked(git.url), 'refs');
});

test('an answer that unzips to too much is refused, and so are zipped parts without content', async () => {
  for (const body of [gzipSync(Buffer.alloc(2_000_000)), Buffer.concat(Array(60_000).fill(gzipSync('')))]) {
    const listening = createServer((_, response) => {
      response.writeHead(200, { 'content-type': advertisement, 'content-encoding': 'gzip' }).end(body);
    });
    listening.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    const { port } = listening.address() as AddressInfo;
    try {
      await assert.rejects(asked(`http://127.0.0.1:${port}/r.git`, 1_000_000), { reason: 'TooLarge' });
    } finally {
      listening.closeAllConnections();
      listening.close();
    }
  }
});

test('a fourth redirect is refused, and what it leads to is not asked', async () => {
  await using git = await server(4);
  await assert.rejects(asked(git.url), { reason: 'RedirectRefused', message: /redirects more than 3 times/ });
  assert.equal(git.requests(), 4);
});
