import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import examples from '@octokit/webhooks-examples' with { type: 'json' };
import { callers, type Sent } from '../support/webhooks/deliveries.ts';
import { table } from './table.ts';

/** As a forge's own limits would hardly allow. */
const connections = 32;
const seconds = 10;
const warmUpSeconds = 2;

interface Example {
  readonly name: string;
  readonly examples: readonly object[];
}

interface Usage {
  readonly rss: number;
  readonly heap: number;
  readonly cpu: { readonly user: number; readonly system: number };
}

interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly coreShare: number;
  readonly before: Usage;
  readonly after: Usage;
}

/**
 * Prints how many deliveries one process, which is one core, verifies and refuses, and whether its memory stays as it
 * is.
 */
export async function measureWebhooks(): Promise<void> {
  const server = fork(join(import.meta.dirname, 'webhook-server.ts'), { execArgv: ['--expose-gc'] });
  try {
    const [{ port }] = (await once(server, 'message')) as [{ readonly port: number }];
    const push = (examples as unknown as readonly Example[]).find(({ name }) => name === 'push')?.examples[0];
    if (!push) throw new Error('there is no example of a push');
    const good = await callers.GitHub.send('secret', 'push', push);
    const wrong = await callers.GitHub.send('wrong', 'push', push);
    const { 'x-hub-signature-256': _, ...unsigned } = good.headers;
    const cases: readonly (readonly [string, Sent, number])[] = [
      ['verified, read, and of no interest', good, 200],
      ['rejected: wrong signature', wrong, 401],
      ['rejected: no signature', { ...good, headers: unsigned }, 401],
    ];
    const rows: string[][] = [];
    // Until the heap has the size that it needs for this.
    await measureOne(server, port, good, 200);
    for (const [what, sent, status] of cases) rows.push(row(what, await measureOne(server, port, sent, status)));
    print(rows, Buffer.byteLength(good.body));
  } finally {
    server.disconnect();
  }
}

async function measureOne(server: ChildProcess, port: number, sent: Sent, status: number): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  await load(agent, port, sent, status, warmUpSeconds);
  const before = await usage(server);
  const milliseconds = (await load(agent, port, sent, status, seconds)).toSorted((a, b) => a - b);
  const after = await usage(server);
  agent.destroy();
  const at = (share: number) => milliseconds[Math.floor(milliseconds.length * share)] ?? Number.NaN;
  const cpu = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system;
  const coreShare = cpu / 1e6 / seconds;
  return { perSecond: milliseconds.length / seconds, p50: at(0.5), p99: at(0.99), coreShare, before, after };
}

/** @returns how long each request took. @throws when an answer is another one */
async function load(agent: Agent, port: number, sent: Sent, status: number, forSeconds: number): Promise<number[]> {
  const until = performance.now() + forSeconds * 1000;
  const taken: number[] = [];
  const one = async () => {
    while (performance.now() < until) {
      const started = performance.now();
      const answered = await post(agent, port, sent);
      if (answered !== status) throw new Error(`${answered} instead of ${status}`);
      taken.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return taken;
}

function post(agent: Agent, port: number, { headers, body }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': Buffer.byteLength(body) };
    const path = '/hooks/etcd-ratchet/production';
    const options = { agent, host: '127.0.0.1', port, path, method: 'POST', headers: { ...headers, ...length } };
    const sent = request(options, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function usage(server: ChildProcess): Promise<Usage> {
  const answered = once(server, 'message') as Promise<[Usage]>;
  server.send('usage');
  return (await answered)[0];
}

function row(what: string, { perSecond, p50, p99, coreShare, before, after }: Measured): string[] {
  const inMiB = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
  return [
    what,
    perSecond.toFixed(0),
    (perSecond / coreShare).toFixed(0),
    p50.toFixed(1),
    p99.toFixed(1),
    `${inMiB(before.rss)} → ${inMiB(after.rss)}`,
    `${inMiB(before.heap)} → ${inMiB(after.heap)}`,
  ];
}

function print(rows: readonly (readonly string[])[], bytes: number): void {
  const head = ['delivery', 'per s', 'per s of CPU', 'p50 ms', 'p99 ms', 'RSS MiB', 'heap MiB'];
  console.log(`## Webhooks: one process, ${seconds} s each after ${warmUpSeconds} s of warm-up\n`);
  console.log(
    `GitHub's own example of a push (${bytes} bytes), signed; ${connections} connections of one other process, which shares`,
  );
  console.log(
    'the machine. The API server is in memory: fleets and Secrets are read once in ten seconds in any case.\n',
  );
  console.log(table([head, ...rows]));
}
