import { parseArgs } from 'node:util';
import { type Finding, fuzz } from './run.ts';
import { targets } from './targets.ts';

/**
 * `npm run fuzz -- --seconds 60 [--seed N]`: tries inputs by turns until the time is over, and says how many. A crash,
 * a rejection that nobody handles, an answer of 500, and an input that costs too much are findings; any of them makes
 * it fail.
 */

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } } });
const seconds = Number(values.seconds);
const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (!(seconds > 0) || !Number.isInteger(first)) {
  console.error('usage: npm run fuzz -- --seconds 60 [--seed N]');
  process.exit(2);
}

/** Inputs of one target before it is the next one's turn. */
const turn = 100;
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
for (let round = 0; performance.now() - started < seconds * 1000 && findings.length === 0; round++) {
  for (const each of targets) {
    await each(async (one) => {
      const found = await fuzz(one, { seed: first + round, runs: turn });
      if (found) findings.push(found);
      counts.set(one.name, (counts.get(one.name) ?? 0) + turn);
    });
  }
}
await new Promise((resolve) => setImmediate(resolve));

for (const [name, count] of counts) console.log(`${String(count).padStart(9)}  ${name}`);
const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
console.log(
  `${String(total).padStart(9)}  inputs in ${((performance.now() - started) / 1000).toFixed(0)} s, ${findings.length} findings`,
);
for (const { target, report } of findings) console.log(`\n${target}:\n${report}`);
process.exitCode = findings.length > 0 ? 1 : 0;
