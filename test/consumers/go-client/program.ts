import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Access } from '../../e2e/support/client.ts';

/** What a program with etcd's own Go client knows. Times are in milliseconds. */
export interface Known {
  readonly acknowledged: number;
  /** Of what it wrote, by its watch. */
  readonly seen: number;
  /** Leases that ended although they were kept alive. */
  readonly leaseLost: number;
  /** How often its watch was told that what it asked for is compacted. */
  readonly compacted: number;
  /** How often it took up new certificates. */
  readonly renewals: number;
  /** What it was told last that happens now. */
  readonly chapter: string;
  /** Between two acknowledged writes, in this chapter. */
  readonly longestGap: number;
  /** From the acknowledgement of a write to its event, in this chapter. */
  readonly longestLag: number;
  /** The last one of this chapter. */
  readonly problem?: string;
  /** At its end: acknowledged writes that are not there, and those that its watch never saw. */
  readonly lost?: readonly string[];
  readonly missed?: readonly string[];
  readonly ended?: true;
}

export interface GoClient extends AsyncDisposable {
  now(): Known;
  /** From now on gaps and lags are those of this chapter. */
  begin(chapter: string): void;
  /** Resolves with what it knows at its end. @throws when it ends without a word */
  finish(): Promise<Known>;
}

const none: Known = {
  acknowledged: 0,
  seen: 0,
  leaseLost: 0,
  compacted: 0,
  renewals: 0,
  chapter: '',
  longestGap: 0,
  longestLag: 0,
};
/** In milliseconds: of its last words. */
const patience = 60_000;

/** @param directory has the files of `credentials` */
export function startGoClient(binary: string, directory: string, { url, serverName }: Access): GoClient {
  const { host, port } = new URL(url);
  const args = [`-endpoint=https://${serverName}:${port}`, `-address=${host}`, `-certificates=${directory}`];
  const running = spawn(binary, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(running, 'exit');
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
      if (!known.ended) throw new Error(`the Go client ended without a word: ${JSON.stringify(known)}`);
      return known;
    },
    [Symbol.asyncDispose]: end,
  };
}
