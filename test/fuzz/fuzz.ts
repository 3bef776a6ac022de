import { parseArgs } from 'node:util';
import { type Finding, fuzz } from './run.ts';
import { targets } from './targets.ts';

/**
 * `npm run fuzz -- [--seconds 60] [--inputs 1000000] [--seed N]`: tries inputs by turns until the time is over and so
 * many were tried, and says how many. A crash,
 * a rejection that nobody handles, an answer of 500, and an input that costs too much are findings; any of them makes
 * it fail.
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    inputs: { type: 'string', default: '0' },
    seed: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const least = Number(values.inputs);
if (!(seconds > 0) || !(least >= 0) || !Number.isInteger(first)) {
  console.error('usage: npm run fuzz -- [--seconds 60] [--inputs 1000000] [--seed N]');
  process.exit(2);
}

/** Milliseconds of one target before it is the next one's turn: the fast ones have more inputs. */
const turnMs = 500;
/** Inputs of one turn, by target, as fast as they were before. */
const turns = new Map<string, number>();
const started = performance.now();
const counts = new Map<string, number>();
const findings: Finding[] = [];
process.on('unhandledRejection', (reason) => {
  findings.push({
    target: 'a rejection that nobody handles',
    report: reason instanceof Error ? (reason.stack ?? '') : String(reason),
  });
});

console.log(`seed ${first}, ${seconds} s`);
const isOver = () => performance.now() - started > seconds * 1000 && total() >= least;
for (let round = 0; !isOver() && findings.length === 0; round++) {
  for (const each of targets) {
    await each(async (one) => {
      const runs = turns.get(one.name) ?? 20;
      const began = performance.now();
      const found = await fuzz(one, {
        seed: first + round,
        runs,
        onTried: () => counts.set(one.name, (counts.get(one.name) ?? 0) + 1),
      });
      if (found) findings.push(found);
      const fitting = (runs * turnMs) / Math.max(1, performance.now() - began);
      turns.set(one.name, Math.round(Math.min(20_000, Math.max(20, fitting))));
    });
  }
}
await new Promise((resolve) => setImmediate(resolve));

for (const [name, count] of counts) console.log(`${String(count).padStart(9)}  ${name}`);
console.log(
  `${String(total()).padStart(9)}  inputs in ${((performance.now() - started) / 1000).toFixed(0)} s, ${findings.length} findings`,
);
for (const { target, report } of findings) console.log(`\n${target}:\n${report}`);
process.exitCode = findings.length > 0 ? 1 : 0;

function total(): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
