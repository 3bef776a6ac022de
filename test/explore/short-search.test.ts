import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { count } from './report.ts';
import { searched as scenarios } from './run.ts';

/** Seconds for all scenarios together; with the walks it is less than 90 on two cores. */
const budget = 43;
const walks = 80;

/**
 * Every scenario, as far as the time goes, and walks at random from a seed of this day: a guard that is gone, and that
 * no other test asks about, is found in seconds. `npm run explore` looks as far as one likes.
 */
test('a short search of all scenarios finds nothing that must never happen', async (t) => {
  const { code, said } = await explore('--budget', String(budget), '--random', String(walks));
  assert.equal(code, 0, said);
  const lines = said.split('\n');
  const told = lines.filter((line) => /distinct states|random walks|again with/.test(line));
  assert.match(said, /random walks .* seed \d+/);
  const searched = lines.filter((line) => scenarios.some((name) => line.startsWith(name)));
  assert.equal(searched.length, scenarios.length, `not all of ${count(scenarios.length)} scenarios:\n${said}`);
  for (const line of told) t.diagnostic(line);
});

async function explore(...args: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'explore.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}
