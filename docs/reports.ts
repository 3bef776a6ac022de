import { forgeReports } from '../test/integration/gitops/forges/reports.ts';
import { gitReports, personalityNames, personalityTitles } from '../test/support/git/personalities.ts';
import type { Source } from '../test/support/git/traits.ts';

interface Row {
  readonly does: string;
  readonly at: Source;
}

/** What stand-ins for Git servers play. */
export function gitReportsTable(): string {
  return table(personalityNames.map((name) => [personalityTitles[name], gitReports[name]]));
}

/** What stand-ins for forges play; Forgejo's rows are Gitea's. */
export function forgeReportsTable(): string {
  const { Gitea, Forgejo: _, ...others } = forgeReports;
  return table([...Object.entries(others), ['Gitea, Forgejo', Gitea]]);
}

function table(servers: readonly (readonly [name: string, rows: readonly Row[]])[]): string {
  const rows = servers.flatMap(([name, all]) => all.map(({ does, at }) => `| ${name} | ${does} | ${told(at)} |`));
  return ['| server | what it does | where that is told |', '|---|---|---|', ...rows].join('\n');
}

function told(at: Source): string {
  return typeof at === 'string' ? at : at.map((address) => `[${shortOf(address)}](${address})`).join(', ');
}

/** `owner/name#7` of a thread at GitHub, else the host. */
function shortOf(address: string): string {
  const [, thread, number] = /^https:\/\/github\.com\/([^/]+\/[^/]+)\/(?:issues|pull)\/(\d+)$/.exec(address) ?? [];
  return thread ? `${thread}#${number}` : new URL(address).host;
}
