import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Consumer } from './consumer.ts';

/**
 * What a program knows by now: it says so in lines of JSON, begins a chapter with each line of its input, and ends with
 * that. Times are in milliseconds.
 */
export interface Known {
  readonly acknowledged: number;
  /** Of what it wrote, by its watch, if it has one. */
  readonly seen?: number;
  /** Leases that ended although they were kept alive. */
  readonly leaseLost?: number;
  /** How often its watch was told that what it asked for is compacted. */
  readonly compacted?: number;
  /** How often its library ended its watch, where that does not go on by itself. */
  readonly watchEnds?: number;
  /** How often it took up new certificates, if it does that by itself. */
  readonly renewals?: number;
  /** What it was told last that happens now. */
  readonly chapter: string;
  /** Between two acknowledged writes, in this chapter. */
  readonly longestGap: number;
  /** From the acknowledgement of a write to its event, in this chapter. */
  readonly longestLag?: number;
  /** The last one of this chapter. */
  readonly problem?: string;
  /** At its end: acknowledged writes that are not there, and those that its watch never saw. */
  readonly lost?: readonly string[];
  readonly missed?: readonly string[];
  readonly ended?: true;
  /** At its end: whether a watch with the first certificates is open, but heard nothing in the last chapter. */
  readonly deaf?: boolean;
}

export interface Program extends AsyncDisposable {
  now(): Known;
  /** From now on gaps and lags are those of this chapter. */
  begin(chapter: string): void;
  /** Resolves with what it knows at its end. @throws when it ends without a word */
  finish(): Promise<Known>;
}

const none: Known = { acknowledged: 0, chapter: '', longestGap: 0 };
/** In milliseconds: of its last words. */
const patience = 60_000;

export function startProgram(
  [command = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Program {
  const running = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const ended = once(running, 'exit');
  // It may have ended by itself: its last words tell that better than a broken pipe.
  running.stdin.on('error', () => {});
  let known = none;
  createInterface({ input: running.stdout }).on('line', (line) => {
    known = JSON.parse(line) as Known;
  });
  const end = async () => {
    running.stdin.end();
    const timer = setTimeout(() => running.kill('SIGKILL'), patience);
    await ended;
    clearTimeout(timer);
  };
  return {
    now: () => known,
    begin: (chapter) => {
      running.stdin.write(`${chapter}\n`);
    },
    async finish() {
      await end();
      if (!known.ended) throw new Error(`${command} ended without a word: ${JSON.stringify(known)}`);
      return known;
    },
    [Symbol.asyncDispose]: end,
  };
}

/** A program that etcd itself serves. @param more writes, and events of its watch, show that it goes on */
export function consumerOf(name: string, program: Program, more = 20): Consumer {
  return {
    name,
    begin: program.begin,
    served() {
      const before = program.now();
      return () => {
        const { acknowledged, seen } = program.now();
        const sees = seen === undefined || seen >= (before.seen ?? 0) + more;
        return acknowledged >= before.acknowledged + more && sees;
      };
    },
    told() {
      const { acknowledged, longestGap: gap, longestLag, problem = 'no error' } = program.now();
      const lag = longestLag === undefined ? '' : `events at most ${longestLag} ms late; `;
      return { gap, words: `${acknowledged} writes, at most ${gap} ms apart; ${lag}${problem}` };
    },
    async finish() {
      const known = await program.finish();
      const { acknowledged, lost = [], missed = [], leaseLost = 0, compacted = 0, renewals, watchEnds, deaf } = known;
      assert.deepEqual({ lost, missed, leaseLost, compacted }, { lost: [], missed: [], leaseLost: 0, compacted: 0 });
      assert.notEqual(renewals, 0, `${name} took up the new certificates`);
      assert.notEqual(deaf, false, `${name} with outdated certificates heard something, or was told that they are`);
      const ends = watchEnds === undefined ? '' : `; ${watchEnds} watches ended`;
      return `${acknowledged} writes, and nothing is lost${ends}`;
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}
