import { run } from '../explore/run.ts';

/**
 * One scenario of `npm run explore`, by its whole name. Ends with 1, and says what is violated and how, if there is a
 * story.
 */
const [scenario = '', states = ''] = process.argv.slice(2);
const { found } = run({ scenario, states: Number(states), time: 120_000 });
if (found) {
  console.log([`${found.violation.invariant}: ${found.violation.message}`, ...found.story].join('\n'));
  process.exitCode = 1;
}
