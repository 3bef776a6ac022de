import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { type Listening, listen } from '../../../functions/serve/listen.ts';
import { composed } from '../../../functions/serve/serve.ts';
import { webhooks } from '../../../functions/serve/webhooks.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { callers, type Sent } from '../../support/webhooks/deliveries.ts';
import { env, installation, url } from '../../unit/serve/installation.ts';

/** The real server on a real socket, against clients that behave badly. */

const kube = installation();
const logged: object[] = [];
const stopping = new AbortController();
let server: Listening;

before(async () => {
  const log = (fields: object, message: string) => void logged.push({ ...fields, message });
  const group = await webhooks({ kube, log, env, version: '0', stop: stopping.signal });
  const limits = { requestMs: 1_500, headersMs: 1_000 };
  server = await listen(composed([group], stopping.signal), { host: '127.0.0.1', port: 0 }, limits);
});
after(() => server.close());

const path = '/hooks/etcd-ratchet/production';

async function pushed(secret = 'secret'): Promise<Sent> {
  const facts = { url, ref: 'refs/heads/main', before: '1'.repeat(40), after: 'a'.repeat(40) };
  return callers.GitHub.send(secret, 'push', callers.GitHub.push(facts));
}

function requestOf({ headers, body }: Sent, more = '', length = Buffer.byteLength(body)): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}${more}content-length: ${length}\r\n\r\n`;
}

/** Writes these pieces and reads until the server closes; how long that took, too. */
async function talk(...pieces: readonly (string | Buffer)[]): Promise<{ answer: string; milliseconds: number }> {
  const started = performance.now();
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => undefined);
  for (const piece of pieces) socket.write(piece);
  await new Promise((resolve) => socket.once('close', resolve));
  return { answer, milliseconds: performance.now() - started };
}

const statusOf = ({ answer }: { answer: string }) => Number(answer.split(' ')[1] ?? 0);

test('a delivery over a real connection is accepted', async () => {
  const { headers, body } = await pushed();
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', headers, body });
  assert.equal(response.status, 202);
  assert.equal(kube.stored(resources.jobs).length, 1);
});

test('a body that never comes is cut off in time, and nothing comes of it', async () => {
  const sent = await pushed();
  const talked = await talk(requestOf(sent), sent.body.slice(0, 20));
  assert.ok(talked.milliseconds < 6_000, `${talked.milliseconds} ms`);
  assert.ok([0, 400, 408].includes(statusOf(talked)), talked.answer);
  assert.equal(kube.stored(resources.jobs).length, 1);
});

test('a hundred senders whose bodies never come keep no other request out', async () => {
  const sent = await pushed('wrong');
  const strangers = Array.from({ length: 100 }, () => talk(requestOf(sent), sent.body.slice(0, 20)));
  const { headers, body } = sent;
  let answered = 0;
  const waiting = Promise.all(strangers.map((one) => one.then(() => ++answered)));
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', headers, body });
  assert.equal(response.status, 401, 'read, and not turned away');
  assert.equal(answered, 0);
  await waiting;
});

test('headers that drip in are cut off in time', async () => {
  const talked = await talk(`POST ${path} HTTP/1.1\r\nhost: x\r\n`);
  assert.ok(talked.milliseconds < 5_000, `${talked.milliseconds} ms`);
  assert.ok([0, 408].includes(statusOf(talked)), talked.answer);
});

test('headers of more than 16 KiB are 431', async () => {
  const sent = await pushed();
  assert.equal(statusOf(await talk(requestOf(sent, `x-long: ${'x'.repeat(20_000)}\r\n`))), 431);
});

test('a truncated body is refused, though its beginning is what was signed', async () => {
  const sent = await pushed();
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  socket.end(requestOf(sent, '', Buffer.byteLength(sent.body) + 10) + sent.body);
  await new Promise((resolve) => socket.once('close', resolve));
  assert.equal(kube.stored(resources.jobs).length, 1);
});

test('a body that is declared too large is 413 before it comes, also when its length is a lie', async () => {
  const sent = await pushed();
  assert.equal(statusOf(await talk(requestOf(sent, 'connection: close\r\n', 50 * 1024 * 1024))), 413);
});

test('two lengths, a length beside chunks, and line breaks in values are no request at all', async () => {
  const sent = await pushed();
  for (const more of [
    'content-length: 3\r\n',
    'transfer-encoding: chunked\r\n',
    'x-evil: a\rb\r\n',
    'x evil: a\r\n',
    'x-null: a\0b\r\n',
  ]) {
    assert.equal(statusOf(await talk(requestOf(sent, more), sent.body)), 400, JSON.stringify(more));
  }
  assert.equal(kube.stored(resources.jobs).length, 1);
});

test('what is no HTTP is closed', async () => {
  assert.equal(statusOf(await talk('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03')), 400);
});

test('a stranger’s request may be large and many, and memory does not grow with them', async () => {
  // With the limits that it really has: a busy machine may be slow to send so much.
  const group = await webhooks({ kube, log: () => undefined, env, version: '0', stop: stopping.signal });
  const patient = await listen(composed([group], stopping.signal), { host: '127.0.0.1', port: 0 });
  const wrong = await pushed('wrong');
  const body = 'x'.repeat(64 * 1024);
  const one = async () => {
    const response = await fetch(`http://127.0.0.1:${patient.port}${path}`, {
      method: 'POST',
      headers: wrong.headers,
      body,
    });
    return response.status;
  };
  for (let n = 0; n < 20; n++)
    assert.deepEqual(new Set(await Promise.all(Array.from({ length: 20 }, one))), new Set([401]));
  globalThis.gc?.();
  assert.ok(process.memoryUsage().arrayBuffers < 48 * 1024 * 1024, `${process.memoryUsage().arrayBuffers}`);
  await patient.close();
});

test('when asked to leave, it finishes its requests, takes no new ones, and /readyz says so', async () => {
  const sent = await pushed();
  stopping.abort();
  assert.equal((await fetch(`http://127.0.0.1:${server.port}/readyz`)).status, 503);
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  const whole = requestOf(sent) + sent.body;
  await new Promise<void>((resolve) => socket.write(whole.slice(0, -5), () => resolve()));
  // It has begun to be read once another one, sent after it, was answered.
  await fetch(`http://127.0.0.1:${server.port}/healthz`);
  const closing = server.close();
  await assert.rejects(fetch(`http://127.0.0.1:${server.port}/healthz`), 'nobody listens any more');
  socket.write(whole.slice(-5));
  await closing;
  assert.match(answer, /^HTTP\/1\.1 202 /);
});
