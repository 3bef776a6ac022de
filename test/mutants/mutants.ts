import { run, type Verdict } from './kill.ts';
import { chosen, DoesNotApply, type Killer, lineOf, type Mutant, nameOf } from './mutant.ts';
import { type Options, parseOptions, usage } from './options.ts';
import { fails, lineFor, type Outcome, summaryOf, type Tried } from './outcome.ts';
import { proposed } from './propose.ts';
import { mutants } from './tables.ts';
import { copyTree, sourceOf, type Tree } from './tree.ts';

/** Without a mutant, in milliseconds: no killer takes as long. */
const patience = 180_000;
/** With one it may take so many times as long, and this much more, before it counts as hanging. */
const factor = 6;
const start = 15_000;

/** `npm run mutants`: see `usage`. */
async function main(options: Options, signal: AbortSignal): Promise<number> {
  if (options.help) return said(usage);
  const all = options.propose === undefined ? mutants : proposed(options.propose, mutants);
  const wanted = chosen(all, options.only);
  if (wanted.length === 0) throw new TypeError(`no mutant has "${options.only}" in it; --list names them`);
  if (options.list) return said((await Promise.all(wanted.map(described))).join('\n'));

  const begun = performance.now();
  await using stack = new AsyncDisposableStack();
  const trees: Tree[] = [];
  for (let n = 0; n < options.workers; n += 1) trees.push(stack.use(await copyTree()));

  const limits = await passUnmutated(wanted, trees, signal);
  if (!limits) return 1;
  const tried = await share(wanted, trees, async (mutant, tree) => {
    const one = await tryOne(mutant, tree, limits, signal);
    console.log(lineFor(one));
    return one;
  });
  console.log(`\n${summaryOf(tried, { time: performance.now() - begun, workers: trees.length })}`);
  return tried.some(fails) ? 1 : 0;
}

/**
 * @returns how long each killer may take; `undefined`, having said why, if one fails without any mutant: then none
 * would prove anything.
 */
async function passUnmutated(
  wanted: readonly Mutant[],
  trees: readonly Tree[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number> | undefined> {
  const killers = [...new Map(wanted.flatMap((mutant) => mutant.killers).map((one) => [nameOf(one), one])).values()];
  console.log(`${wanted.length} mutants. First, without any: ${killers.length} test files and searches`);
  const limits = new Map<string, number>();
  const failed: Exclude<Verdict, { kind: 'passed' }>[] = [];
  await share(killers, trees, async (killer, { directory }) => {
    const begun = performance.now();
    const verdict = await run(killer, { directory, limit: patience, signal });
    if (verdict.kind !== 'passed') failed.push(verdict);
    limits.set(nameOf(killer), start + factor * (performance.now() - begun));
  });
  for (const { kind, by, output } of failed) console.error(`${output}\n${kind} without any mutant: ${by}`);
  return failed.length === 0 ? limits : undefined;
}

async function tryOne(
  mutant: Mutant,
  tree: Tree,
  limits: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<Tried> {
  const begun = performance.now();
  const told = (outcome: Outcome, line: number): Tried => ({
    mutant,
    line,
    outcome,
    took: performance.now() - begun,
  });
  try {
    const line = lineOf(await sourceOf(mutant), mutant);
    await using _ = await tree.mutate(mutant);
    const limit = (killer: Killer) => limits.get(nameOf(killer)) ?? patience;
    const fastestFirst = mutant.killers.toSorted((one, other) => limit(one) - limit(other));
    return told(
      await outcomeOf(fastestFirst, (killer) => run(killer, { ...tree, limit: limit(killer), signal })),
      line,
    );
  } catch (error) {
    if (!(error instanceof DoesNotApply)) throw error;
    return told({ kind: 'does not apply', why: error.message }, 1);
  }
}

async function outcomeOf(killers: readonly Killer[], judge: (killer: Killer) => Promise<Verdict>): Promise<Outcome> {
  for (const killer of killers) {
    const verdict = await judge(killer);
    if (verdict.kind === 'failed') return { kind: 'died', by: verdict.by };
    if (verdict.kind === 'timed out') return { kind: 'timed out', by: verdict.by };
  }
  return { kind: 'survived' };
}

/** Each tree takes the next piece as soon as it is free. The results stand in the order of the work. */
async function share<W, R>(
  work: readonly W[],
  trees: readonly Tree[],
  carry: (piece: W, tree: Tree) => Promise<R>,
): Promise<readonly R[]> {
  const queue = [...work.entries()].values();
  const results: R[] = [];
  const ended = await Promise.allSettled(
    trees.map(async (tree) => {
      for (const [index, piece] of queue) results[index] = await carry(piece, tree);
    }),
  );
  // Only when all have ended may the trees go.
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return results;
}

async function described(mutant: Mutant): Promise<string> {
  const line = lineOf(await sourceOf(mutant), mutant);
  const survives = mutant.survives === undefined ? [] : [`    survives: ${mutant.survives}`];
  return [
    `${mutant.file}:${line}  ${mutant.without}`,
    ...mutant.killers.map((one) => `    ${nameOf(one)}`),
    ...survives,
  ].join('\n');
}

function said(text: string): number {
  console.log(text);
  return 0;
}

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort());
try {
  process.exitCode = await main(parseOptions(process.argv.slice(2)), interrupted.signal);
} catch (error) {
  if (interrupted.signal.aborted) process.exitCode = 130;
  else if (error instanceof TypeError) {
    console.error(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  } else throw error;
}
