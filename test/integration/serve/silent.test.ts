import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { type Listening, listen } from '../../../functions/serve/listen.ts';
import { composed } from '../../../functions/serve/serve.ts';
import { webhooks } from '../../../functions/serve/webhooks.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKube, FakeKubeOptions } from '../../support/fakes/kube.ts';
import { callers, type Sent } from '../../support/webhooks/deliveries.ts';
import { env, installation, url } from '../../unit/serve/installation.ts';

/** Real sockets, more than the server takes, that keep still: others must get in all the same. */

const path = '/hooks/etcd-ratchet/production';
/** Of connections that the server keeps open. */
const bound = 1024;

interface Served extends AsyncDisposable {
  readonly server: Listening;
  readonly kube: FakeKube;
  /** A connection that sends these bytes and no more. */
  readonly open: (text: string) => Promise<Socket>;
}

async function serving(options: FakeKubeOptions = {}): Promise<Served> {
  const kube = installation(options);
  const stop = new AbortController().signal;
  const group = await webhooks({ kube, log: () => undefined, env, version: '0', stop });
  const server = await listen(composed([group], stop), { host: '127.0.0.1', port: 0 });
  const sockets: Socket[] = [];
  return {
    server,
    kube,
    open: async (text) => {
      const socket = connect(server.port, '127.0.0.1');
      sockets.push(socket);
      // What the server sheds may be reset.
      socket.on('error', () => undefined).resume();
      await once(socket, 'connect');
      if (text !== '') socket.write(text);
      return socket;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await server.close();
    },
  };
}

async function pushed(): Promise<Sent> {
  const facts = { url, ref: 'refs/heads/main', before: '1'.repeat(40), after: 'a'.repeat(40) };
  return callers.GitHub.send('secret', 'push', callers.GitHub.push(facts));
}

function textOf({ headers, body }: Sent, length = body.length): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return head + body.slice(0, length);
}

/** What comes first, or nothing where the server lets go of it. */
async function answerTo(socket: Socket): Promise<string> {
  const [answer = ''] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [])]);
  return String(answer);
}

const idle = {
  'say nothing': () => '',
  'stop in their headers': () => `POST ${path} HTTP/1.1\r\nhost: x\r\n`,
  'stop in their body': (sent: Sent) => textOf(sent, 20),
} as const;

for (const [what, said] of Object.entries(idle)) {
  test(`a signed delivery is answered within a second beside ${bound + 200} connections that ${what}`, async () => {
    await using served = await serving();
    const sent = await pushed();
    const begun = performance.now();
    await Promise.all(Array.from({ length: bound + 200 }, () => served.open(said(sent))));
    assert.ok(performance.now() - begun < 4_500, 'before any of them is cut off for being late');
    // Both are connections of their own. With the first one's answer, this process is done with opening all the others.
    // And with the last one's, the server has read what all of them sent.
    for (let n = 0; n < 10; n++)
      assert.match(await answerTo(await served.open('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')), /^HTTP\/1\.1 200 /);
    const started = performance.now();
    assert.match(await answerTo(await served.open(textOf(sent))), /^HTTP\/1\.1 202 /);
    assert.ok(performance.now() - started < 1_000, `${performance.now() - started} ms`);
    assert.equal(served.kube.stored(resources.jobs).length, 1);
  });
}

test('what waits for an answer to a whole request is not shed, and of the silent the oldest is', async () => {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await using served = await serving({
    before: () => {
      asked.resolve();
      return held.promise;
    },
  });
  const delivering = await served.open(textOf(await pushed()));
  const answer = answerTo(delivering);
  await asked.promise;
  const first = await served.open('');
  const shed = once(first, 'close');
  const young = await Promise.all(Array.from({ length: bound }, () => served.open('')));
  await shed;
  held.resolve();
  assert.match(await answer, /^HTTP\/1\.1 202 /);
  assert.ok(young.filter(({ closed }) => closed).length <= 1, 'only as many as are too many');
});
