import { byPlace, type Problem } from './problem.ts';

/** A person mends these first, and looks again. */
const mostOfFile = 10;
const most = 1_000;

/** The first problems of each file, by place, and in one more how many are left out. `all`: none is left out. */
export function fewProblems(problems: readonly Problem[]): {
  readonly told: readonly Problem[];
  readonly all: boolean;
} {
  const told: Problem[] = [];
  for (const [file, ofFile] of Map.groupBy(problems, (problem) => problem.file)) {
    const sorted = ofFile.toSorted(byPlace);
    const [first] = sorted.slice(mostOfFile);
    // One more says no less than that there is one more.
    if (sorted.length <= mostOfFile + 1 || !first) told.push(...sorted);
    else {
      const { line, column } = first;
      const message = `and ${sorted.length - mostOfFile} more problems in this file`;
      told.push(...sorted.slice(0, mostOfFile), { file, line, column, message });
    }
  }
  told.sort(byPlace);
  const [next] = told.slice(most);
  if (!next) return { told, all: told.length === problems.length };
  const { file, line, column } = next;
  return {
    told: [...told.slice(0, most), { file, line, column, message: `and ${told.length - most} more problems` }],
    all: false,
  };
}
