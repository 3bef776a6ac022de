import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../e2e/support/until.ts';
import { lastLines } from '../../support/cluster/daemon.ts';
import type { ConsumerTools } from '../../support/cluster/tools.ts';
import type { Consumer } from '../consumer.ts';
import { type Program, startProgram } from '../program.ts';
import { look, type Seen, switchOver } from './api.ts';
import { type Instance, startInstance } from './instance.ts';
import { refusalsIn, renewalsIn, spellsOf } from './log.ts';
import { type Database, timing } from './settings.ts';

/** The first one leads. */
const wanted = [
  { name: 'pg-0', isByService: true },
  { name: 'pg-1', isByService: false },
] as const;

const writer = join(import.meta.dirname, 'writer.py');

/**
 * Two instances of PostgreSQL under Patroni, one of them the primary, and a program that writes into that. Resolves
 * once the other one follows.
 *
 * @param etcd its Service's name and port; @param certificates a directory with the files for it
 */
export async function startPatroni(tools: ConsumerTools, etcd: string, certificates: string): Promise<Consumer> {
  await using starting = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'patroni-'));
  starting.defer(() => rm(directory, { recursive: true, force: true }));
  const password = randomBytes(16).toString('hex');
  const instances: Instance[] = [];
  // PostgreSQL ends before its Patroni does.
  starting.defer(async () => {
    await Promise.all(instances.map(({ daemon }) => daemon.stop(30_000)));
  });
  const before = await startAll(instances, { tools, directory, etcd, certificates, password });
  const hosts = instances.map(() => '127.0.0.1').join(',');
  const ports = instances.map(({ port }) => port).join(',');
  const dsn = `host=${hosts} port=${ports} user=postgres dbname=postgres target_session_attrs=read-write`;
  const program = starting.use(startProgram([tools.python, writer, dsn], { PGPASSWORD: password }));
  const opened = starting.move();
  return { ...consumerOf(program, instances, before), [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** One after the other. @returns how they are then */
async function startAll(instances: Instance[], database: Database): Promise<Seen> {
  let seen: Seen | undefined;
  for (const one of wanted) {
    const instance = await startInstance(one, database);
    instances.push(instance);
    let last = '';
    const isThere = async () => {
      last = await lastLines(instance.daemon.log);
      return look(instances);
    };
    seen = await until(`${one.name} is there`, isThere, { within: 120, last: () => last });
  }
  return seen ?? assert.fail('no instance is wanted');
}

function consumerOf(
  program: Program,
  instances: readonly Instance[],
  before: Seen,
): Omit<Consumer, typeof Symbol.asyncDispose> {
  let began = secondsNow();
  const logs = async () => Promise.all(instances.map((one) => one.log()));
  return {
    name: 'Patroni',
    begin(chapter) {
      began = secondsNow();
      program.begin(chapter);
    },
    served() {
      const [written, asked] = [program.now().acknowledged, secondsNow()];
      return async () => {
        const isRenewed = (await logs()).some((one) => renewalsIn(one).some((at) => at > asked));
        return isRenewed && program.now().acknowledged >= written + 20;
      };
    },
    async told() {
      const { acknowledged, longestGap: gap, problem = 'no error' } = program.now();
      const texts = await logs();
      const { count, longest } = spellsOf(texts.flatMap(renewalsIn), { began, now: secondsNow() });
      assert.ok(longest < timing.ttl, `its leader key was not renewed for ${longest.toFixed(1)} s`);
      const key = `its leader key renewed ${count} times, at most ${longest.toFixed(1)} s apart`;
      const refused = texts.map((text, index) => `${instances[index]?.name}: ${refusedSince(began, text)}`);
      return { gap, words: `${acknowledged} rows, at most ${gap} ms apart; ${key}; ${refused.join('; ')}; ${problem}` };
    },
    async finish() {
      const { acknowledged, lost } = await program.finish();
      assert.deepEqual(lost, [], 'acknowledged rows that are not there');
      const last = await until('one leads, the other one follows', () => look(instances));
      assert.deepEqual(last, before, 'no failover');
      await switchOver(instances, before);
      return `${acknowledged} rows, and each is there; no failover, until one was asked for`;
    },
  };
}

function refusedSince(began: number, log: string): string {
  const all = refusalsIn(log).filter(({ at }) => at >= began);
  return [`${all.length} requests failed`, ...all.map(({ why }) => why).slice(-1)].join(', ');
}

function secondsNow(): number {
  return Date.now() / 1000;
}
