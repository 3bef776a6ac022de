import assert from 'node:assert/strict';
import { line, mayPass } from '../../../../reconcile/cluster/know/plan/as-foretold.ts';
import { apart, leavesPlan } from './apart.ts';
import { differenceIn, type Episode, episodesOf } from './episodes.ts';
import type { Sight } from './sight.ts';

/** What was foretold in one story, and what came of it. */
export interface Ledger {
  note(sight: Sight): void;
  /**
   * @returns what failed for a cause that passes, and was made up for: no difference, and worth a look.
   * @throws {AssertionError} that tells all that was not as foretold
   */
  settle(): readonly string[];
}

/** @param story whose clusters may be in `apart.ts` */
export function createLedger(story: string): Ledger {
  const sights = new Map<string, Sight[]>();
  return {
    note(sight) {
      const all = sights.get(sight.uid) ?? [];
      sights.set(sight.uid, all);
      all.push(sight);
    },
    settle() {
      const episodes = [...sights.values()].flatMap(episodesOf);
      const different = episodes.flatMap((episode) => {
        const difference = differenceIn(episode, apart[story]?.[episode.cluster]);
        return difference === undefined ? [] : [told(episode, difference)];
      });
      const left = [...sights.values()].flatMap((all) => {
        const { name = '', kept } = all.at(-1) ?? {};
        // Whose invocation died in the middle may rightly go on otherwise.
        const isWrong =
          kept?.state === 'Left' && !kept.interrupted && !apart[story]?.[name] && !leavesPlan[story]?.[name];
        return isWrong ? [`${name}: its status says: ${kept.message}`] : [];
      });
      different.push(...left);
      assert.equal(different.length, 0, `${different.join('\n\n')}\n${help}`);
      return episodes.flatMap(({ cluster, taken }) =>
        taken.filter(mayPass).map((step) => `${cluster}: ${line(step)} failed at ${step.at}, and was made up for`),
      );
    },
  };
}

const help =
  'Cure the plan (reconcile/cluster/foresee) or the step. Where the story itself interferes, apart.ts says why.';

function told(episode: Episode, difference: string): string {
  const { cluster, asked, plan, taken, decided, end } = episode;
  const lines = (steps: readonly string[]) => steps.map((step) => `  ${step}\n`).join('');
  return [
    `${cluster} (${asked}): what happened is not what was foretold (${difference})\n`,
    `foretold: ${plan.summary}; it ends ${plan.end.kind} (${plan.end.reason})\n`,
    lines(plan.steps.map(line)),
    `taken, and it ended ${end ? `${end.kind} (${end.reason})` : 'under way'}:\n`,
    lines(taken.map((step) => `${step.outcome} ${line(step)} ${step.at}`)),
    `decided: ${decided.map(({ kind, reason }) => `${kind} ${reason}`).join(', ')}`,
  ].join('');
}
