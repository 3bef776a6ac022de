import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Access } from '../e2e/support/client.ts';
import type { Known, Program } from './program.ts';

const prefix = 'etcdctl/w/';
/** From one `put` to the next, in milliseconds: each is a process of its own. */
const rhythm = 200;
/** Of one call, in milliseconds. etcdctl itself gives up after 5 s. */
const patience = 10_000;

/**
 * A script that calls `etcdctl put` again and again, beside an `etcdctl watch`: that is started again, where it ends
 * and where there are other certificates, after the last revision that it told.
 *
 * @param directory has the files of its certificates
 */
export function startEtcdctl(binary: string, directory: string, { url, serverName }: Access): Program {
  const file = (name: string) => join(directory, name);
  const address = `https://${serverName}:${new URL(url).port}`;
  const certificates = [`--cacert=${file('ca.crt')}`, `--cert=${file('tls.crt')}`, `--key=${file('tls.key')}`];
  const flags = [`--endpoints=${address}`, ...certificates];
  const acknowledged = new Map<string, number>();
  const seen = new Set<string>();
  const stopped = new AbortController();
  let chapter: Known = { acknowledged: 0, chapter: '', longestGap: 0, longestLag: 0 };
  let [revision, last, said] = [1, performance.now(), ''];

  const working = Promise.all([write(), watch()]);

  async function write(): Promise<void> {
    for (let number = 0; !stopped.signal.aborted; number++) {
      const key = `${prefix}${number}`;
      while (!stopped.signal.aborted && !(await isWritten(key))) await pause(rhythm);
      await pause(rhythm);
    }
  }

  async function isWritten(key: string): Promise<boolean> {
    try {
      await promisify(execFile)(binary, [...flags, 'put', key, 'x'], { timeout: patience });
    } catch (error) {
      chapter = { ...chapter, problem: `put: ${error instanceof Error ? error.message : error}` };
      return false;
    }
    const now = performance.now();
    acknowledged.set(key, now);
    chapter = { ...chapter, longestGap: Math.max(chapter.longestGap, Math.round(now - last)) };
    last = now;
    return true;
  }

  async function watch(): Promise<void> {
    const written = async () => (await Promise.all(['ca.crt', 'tls.crt'].map((name) => readFile(file(name))))).join();
    while (!stopped.signal.aborted) {
      const held = await written();
      const args = [...flags, 'watch', '--prefix', prefix, `--rev=${revision}`, '--write-out=json'];
      const running = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      const ended = once(running, 'exit');
      createInterface({ input: running.stdout }).on('line', saw);
      createInterface({ input: running.stderr }).on('line', (line) => {
        said = line;
      });
      const isOver = () => stopped.signal.aborted || running.exitCode !== null || running.signalCode !== null;
      while (!isOver() && (await written()) === held) await pause(100);
      running.kill();
      await ended;
    }
  }

  function saw(line: string): void {
    const { Events: events = [] } = JSON.parse(line) as {
      readonly Events?: readonly { readonly kv: { readonly key: string; readonly mod_revision: number } }[];
    };
    for (const { kv } of events) {
      const key = `${Buffer.from(kv.key, 'base64')}`;
      const late = Math.round(performance.now() - (acknowledged.get(key) ?? Infinity));
      if (!seen.has(key)) chapter = { ...chapter, longestLag: Math.max(chapter.longestLag ?? 0, late) };
      seen.add(key);
      revision = Math.max(revision, kv.mod_revision + 1);
    }
  }

  const now = (): Known => ({ ...chapter, acknowledged: acknowledged.size, seen: seen.size });
  const end = async () => {
    stopped.abort();
    await working;
  };
  return {
    now,
    begin(what) {
      chapter = { acknowledged: 0, chapter: what, longestGap: 0, longestLag: 0 };
    },
    async finish() {
      const deadline = performance.now() + 20_000;
      const written = [...acknowledged.keys()];
      const { stdout } = await promisify(execFile)(binary, [...flags, 'get', '--prefix', prefix, '--keys-only'], {
        timeout: patience,
      });
      const kept = new Set(stdout.split('\n'));
      const lost = written.filter((key) => !kept.has(key));
      while (!written.every((key) => seen.has(key)) && performance.now() < deadline) await pause(rhythm);
      await end();
      const missed = written.filter((key) => !seen.has(key));
      return { ...now(), lost, missed, ended: true, ...(said !== '' && { problem: said }) };
    },
    [Symbol.asyncDispose]: end,
  };
}
