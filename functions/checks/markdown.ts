import type { CheckedCluster, CheckProblem, CheckReport, RightsChange } from '../../manifests/api/check-report.ts';
import { markdownText, planMarkdown } from '../../reconcile/cluster/foresee/table.ts';
import { place } from '../../reconcile/fleet/statements.ts';

/** The report as people read it: in a comment, on the page's source, and in a terminal. */
export function reportMarkdown(report: CheckReport): string {
  const { fleet, request, head, target, targetBranch, state, description, problems, problemCount } = report;
  const what = request ? `#${request.number} ${request.title}` : head.slice(0, 12);
  const more = problemCount > problems.length ? [`- and ${problemCount - problems.length} others`] : [];
  const blocks = [
    `### etcd-ratchet: ${titles[state]}`,
    `**${markdownText(description)}**`,
    `${markdownText(what)}: \`${head.slice(0, 12)}\` merged in memory with ${markdownText(targetBranch)} at \`${target.slice(0, 12)}\`, for fleet ${fleet.namespace}/${fleet.name}.`,
    ...section('To mend', [...problems.map(item), ...more]),
    ...section('Signatures', report.signatures === undefined ? [] : [`- ${markdownText(report.signatures)}`]),
    ...section('Deleted, or left behind', report.deletions.map(deletion)),
    ...section(
      'Backups, schedules and node policies',
      (report.others ?? []).map((text) => `- ${markdownText(text)}`),
    ),
    ...(report.sections ?? []).flatMap(({ title, lines }) =>
      section(
        markdownText(title),
        lines.map((line) => `- ${markdownText(line)}`),
      ),
    ),
    ...report.clusters.map(clusterBlock),
    ...section('Allowed, and probably not meant', report.warnings.map(item)),
    ...section(`Wrong on ${markdownText(targetBranch)} as well`, report.inherited.map(item)),
    ...(report.shortened ? ['Some steps are left out here: `tick --check` prints them all.'] : []),
    `Nothing was applied.${report.clusters.some(({ planned }) => planned) ? ' The plan holds as long as nothing fails and nothing else changes.' : ''}`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

const titles = {
  success: 'what merging this would do',
  failure: 'this cannot be applied as it is',
  error: 'this could not be checked',
  untouched: 'nothing of this fleet changes',
} as const satisfies Record<CheckReport['state'], string>;

function section(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`#### ${title}`, items.join('\n')];
}

function item(problem: CheckProblem): string {
  return `- ${markdownText(place(problem))}`;
}

function deletion({ namespace, name, kept, dataGo }: CheckReport['deletions'][number]): string {
  return kept === undefined
    ? `- **${named(namespace, name)} is deleted${dataGo ? ', and its data' : ''}**`
    : `- ${named(namespace, name)} stays: ${markdownText(kept)}`;
}

function named(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

const intents = {
  keep: '',
  update: ' changes',
  create: ' is created',
  delete: ' is deleted',
} as const satisfies Record<CheckedCluster['intent'], string>;

function clusterBlock({ namespace, name, intent, planned, fields = [], problem = '' }: CheckedCluster): string {
  const title = `#### ${markdownText(`${namespace}/${name}`)}${intents[intent]}`;
  const changed = fields.length > 0 ? `${fields.map((field) => `- ${markdownText(field)}`).join('\n')}\n\n` : '';
  if (!planned) return `${title}\n\n${changed}It could not be looked at: ${markdownText(problem)}`;
  const risk = planned.risk === undefined ? '' : `${sentence(markdownText(planned.risk))}\n\n`;
  return `${title}: ${markdownText(planned.summary)}\n\n${changed}${risk}${rightsTable(planned.rights ?? [])}${planMarkdown(planned)}`;
}

function rightsTable(rights: readonly RightsChange[]): string {
  if (rights.length === 0) return '';
  const rows = rights.map(
    ({ who, gains = '', loses = '' }) => `| ${[who, gains, loses].map(markdownText).join(' | ')} |`,
  );
  return [`| in etcd | gains | loses |`, '|---|---|---|', ...rows, '', ''].join('\n');
}

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
