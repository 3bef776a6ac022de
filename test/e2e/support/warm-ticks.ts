import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { basename } from 'node:path';
import { parseOptions } from '../../../functions/tick/options.ts';
import { runTick } from '../../../functions/tick/run-tick.ts';
import { foretellEachStep } from './foretelling/foretell.ts';
import { createLedger } from './foretelling/ledger.ts';
import type { Sight } from './foretelling/sight.ts';
import { assertMade, type TickResult } from './tick.ts';

/**
 * Invocations one after the other in a process that stays, where a test needs many on the way to what it is about: most
 * of what a cold one costs is to begin. What is the same: the code, its connections, and that none knows of another.
 * `Scene.coldTick` is the bundle, cold, as in a pod.
 *
 * Each step also foretells what follows it. Disposed of, they hold that against what happened.
 */
export interface WarmTicks extends AsyncDisposable {
  /**
   * @throws {AssertionError} when its exit code is another than asked for, its process ends, or it takes more than a
   * minute.
   */
  tick(...args: string[]): Promise<Ended>;
}

/** How an invocation ended. */
export type Ended = Pick<TickResult, 'code' | 'stdout' | 'stderr'>;

/** What the process of a tick says. */
type Said = { readonly kind: 'sight'; readonly sight: Sight } | { readonly kind: 'answer'; readonly answer: Ended };

const patienceMs = 60_000;

export function createWarmTicks(env: Readonly<Record<string, string>>): WarmTicks {
  const story = basename(process.argv[1] ?? '', '.test.ts');
  const ledger = createLedger(story);
  const all = new Set<ChildProcess>();
  const idle: ChildProcess[] = [];

  function start(): ChildProcess {
    const child = fork(import.meta.filename, { env: { ...process.env, ...env } });
    all.add(child);
    child.on('message', (said: Said) => {
      if (said.kind === 'sight') ledger.note(said.sight);
    });
    child.once('exit', () => all.delete(child));
    return child;
  }

  return {
    async tick(...args) {
      const child = idle.pop() ?? start();
      const answer = await answerTo(child, args);
      idle.push(child);
      assertMade(args, answer);
      return answer;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [...all].map(async (child) => {
          const gone = once(child, 'exit');
          child.kill();
          await gone;
        }),
      );
      for (const failure of ledger.settle()) console.log(failure);
    },
  };
}

async function answerTo(child: ChildProcess, args: readonly string[]): Promise<Ended> {
  const over = new AbortController();
  const { signal } = over;
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  try {
    const ended = once(child, 'exit', { signal }).then(([code, by]) => {
      assert.fail(`the process of a tick has ended (${code ?? by}): ${args.join(' ')}`);
    });
    child.send(args);
    return await Promise.race([answered(child, signal), ended]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

async function answered(child: ChildProcess, signal: AbortSignal): Promise<Ended> {
  for await (const [said] of on(child, 'message', { signal }) as AsyncIterable<[Said]>) {
    if (said.kind === 'answer') return said.answer;
  }
  return assert.fail('the process of a tick has no more to say');
}

async function run(args: readonly string[]): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  const out = (text: string) => {
    stdout += text;
  };
  const err = (text: string) => {
    stderr += text;
  };
  const version = 'e2e';
  const parsed = parseOptions(args, { version, out, err });
  if (parsed.kind === 'exit') return { code: parsed.code, stdout, stderr };
  const log = (fields: object, msg: string) => err(`${JSON.stringify({ ...fields, msg })}\n`);
  const code = await runTick(parsed.options, {
    version,
    log,
    stop: new AbortController().signal,
    env: process.env,
    out,
  });
  return { code, stdout, stderr };
}

if (import.meta.main) {
  const say = (said: Said) => process.send?.(said);
  foretellEachStep((sight) => say({ kind: 'sight', sight }));
  process.on('message', async (args: readonly string[]) => say({ kind: 'answer', answer: await run(args) }));
}
