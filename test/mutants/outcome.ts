import type { Mutant } from './mutant.ts';

export type Outcome =
  /** `by` names the test or the scenario. */
  | { readonly kind: 'died'; readonly by: string }
  /** It did not end, and was killed: whoever runs the tests notices. */
  | { readonly kind: 'timed out'; readonly by: string }
  | { readonly kind: 'survived' }
  | { readonly kind: 'does not apply'; readonly why: string };

export interface Tried {
  readonly mutant: Mutant;
  readonly line: number;
  readonly outcome: Outcome;
  /** Milliseconds. */
  readonly took: number;
}

/** One line of progress. What fails the run stands out. */
export function lineFor({ mutant, line, outcome, took }: Tried): string {
  const where = `${mutant.file}:${line}`;
  return `${wordFor(mutant, outcome).padEnd(15)}${seconds(took).padStart(6)}  ${where}  ${mutant.without}${because(mutant, outcome)}`;
}

function wordFor({ survives }: Mutant, { kind }: Outcome): string {
  if (kind === 'survived') return survives === undefined ? 'SURVIVED' : 'survived';
  return kind === 'does not apply' ? 'DOES NOT APPLY' : kind;
}

function because({ survives }: Mutant, outcome: Outcome): string {
  switch (outcome.kind) {
    case 'survived':
      return survives === undefined ? '' : `\n${' '.repeat(23)}as expected: ${survives}`;
    case 'does not apply':
      return `\n${' '.repeat(23)}${outcome.why}: find the guard by its meaning, and write its text anew`;
    case 'died':
    case 'timed out': {
      const stale =
        survives === undefined ? '' : `\n${' '.repeat(23)}its explanation is not needed any more: ${survives}`;
      return `\n${' '.repeat(23)}by: ${outcome.by}${stale}`;
    }
  }
}

/** The last lines: totals, and what fails the run once more. */
export function summaryOf(all: readonly Tried[], { time, workers }: { time: number; workers: number }): string {
  const count = (kind: Outcome['kind']) => all.filter(({ outcome }) => outcome.kind === kind).length;
  const late = count('timed out');
  const explained = all.filter(({ mutant, outcome }) => outcome.kind === 'survived' && mutant.survives !== undefined);
  const totals = [
    `${count('died') + late} died${late > 0 ? ` (${late} by time-out)` : ''}`,
    `${count('survived') - explained.length} survived`,
    `${explained.length} survived as explained`,
    `${count('does not apply')} do not apply`,
  ];
  const failures = all.filter(fails);
  return [
    ...(failures.length > 0 ? ['What fails this run:', ...failures.map(lineFor), ''] : []),
    `${all.length} mutants: ${totals.join(', ')}; ${seconds(time)}, ${workers} at a time`,
  ].join('\n');
}

export function fails({ mutant, outcome }: Tried): boolean {
  return outcome.kind === 'does not apply' || (outcome.kind === 'survived' && mutant.survives === undefined);
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
