import { states } from '../reconcile/fleet/states.ts';

/** What docs/reference/glossary.md says of states. */
export function statesTable(): string {
  return [
    '| kstatus, Flux, Argo CD | condition, page, `kubectl ratchet` | counted in `status.clusters` | commit status | means |',
    '|---|---|---|---|---|',
    ...Object.entries(states).map(
      ([verdict, { word, count, commit, means }]) =>
        `| ${verdict} | **${word}** | \`${count}\` | ${commit} | ${means} |`,
    ),
  ].join('\n');
}
