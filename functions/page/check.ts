import { mostFields, mostProblems } from '../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { ShownCluster, ShownReport } from './check-report.ts';
import { problemList } from './fleet.ts';
import { layout } from './layout.ts';
import { commitUrl, fleetHref, linked } from './links.ts';
import { type Html, markup } from './markup.ts';
import { badge, card, facts } from './parts.ts';
import { planSteps } from './plan.ts';
import { plainQuery, type Query } from './query.ts';
import { checkState } from './state.ts';

export interface CheckData {
  readonly sha: string;
  /** Of this commit; a repository may hold several fleets. At least one. */
  readonly reports: readonly { readonly report: ShownReport; readonly fleet?: EtcdFleet | undefined }[];
  readonly query?: Query;
  readonly now: Date;
}

const root = '../';

/** More than these, a page does not open by itself, or does not show. */
const mostOpen = 3;
const mostClusters = 200;

const intents = {
  keep: 'is not changed',
  update: 'changes',
  create: 'is created',
  delete: 'is deleted',
} as const satisfies Record<ShownCluster['intent'], string>;

export function checkPage({ sha, reports, query = plainQuery, now }: CheckData): Html {
  const worst = reports.find(({ report }) => report.state === 'failure') ?? reports[0];
  const body = markup`${reports.map(({ report, fleet }) => oneReport(report, fleet))}`;
  const request = worst?.report.request;
  return layout({
    title: `${request ? `#${request.number} ${request.title.slice(0, 80)}` : sha.slice(0, 10)} · etcd-ratchet`,
    root,
    tone: worst ? checkState(worst.report.state).tone : 'calm',
    path: [{ text: 'Checks' }, { text: request ? `#${request.number}` : sha.slice(0, 10) }],
    query,
    now,
    body,
  });
}

function oneReport(report: ShownReport, fleet: EtcdFleet | undefined): Html {
  const { request, head, description, problems, problemCount, inherited, warnings, clusters } = report;
  const title = request ? linked(request.url, request.title) : markup`Commit <code>${head.slice(0, 10)}</code>`;
  const left = problemCount - Math.min(problems.length, mostProblems);
  return markup`<div class="title"><h1><bdi>${title}</bdi></h1>${badge(checkState(report.state))}</div>
<p class="lead quiet"><bdi>${description}</bdi></p>
${about(report, fleet)}
${problems.length > 0 && card('Problems', problemList(problems.slice(0, mostProblems)), left > 0 && markup`<p class="quiet">and ${left} more</p>`)}
${deletionsCard(report)}
${othersCard(report)}${sectionCards(report)}
${warnings.length > 0 && card('Allowed, and perhaps not meant', problemList(warnings.slice(0, mostProblems)))}
${clusters.slice(0, mostClusters).map((cluster) => clusterCard(cluster, clusters.length <= mostOpen))}
${clusters.length > mostClusters && markup`<p class="quiet">and ${clusters.length - mostClusters} more clusters</p>`}
${inherited.length > 0 && card('Wrong before, and still', problemList(inherited.slice(0, mostProblems)))}
${report.shortened && markup`<p class="quiet small">This report was shortened: tick --check ${head} prints all of it.</p>`}`;
}

function about(
  { fleet: { namespace, name }, request, head, target, targetBranch, signatures }: ShownReport,
  fleet?: EtcdFleet,
) {
  const commit = (sha: string) => linked(fleet && commitUrl(fleet, sha), markup`<code>${sha.slice(0, 10)}</code>`);
  return markup`<section class="card" aria-label="Summary">${facts([
    request && { name: 'Request', value: linked(request.url, `#${request.number}`) },
    {
      name: 'Fleet',
      value: markup`<a href="${fleetHref(root, namespace, name)}"><bdi>${namespace}/${name}</bdi></a>`,
      wide: 'on a phone',
    },
    { name: 'Commit', value: commit(head) },
    { name: 'Merged, for this check, with', value: markup`<bdi>${targetBranch}</bdi> ${commit(target)}` },
    signatures !== undefined && { name: 'Signatures', value: markup`<bdi>${signatures}</bdi>`, wide: true },
  ])}</section>`;
}

function deletionsCard({ deletions }: ShownReport): Html {
  if (deletions.length === 0) return markup``;
  const items = deletions
    .slice(0, mostProblems)
    .map(
      ({ namespace, name, kept }) =>
        markup`<li><b><bdi>${namespace === '' ? name : `${namespace}/${name}`}</bdi></b>${kept === undefined ? markup` ${badge({ tone: 'bad', word: 'is deleted' })}` : markup`<br><bdi>${kept}</bdi>`}</li>`,
    );
  return card('No longer listed', markup`<ul class="problems">${items}</ul>`);
}

function othersCard({ others = [] }: ShownReport): Html {
  if (others.length === 0) return markup``;
  const items = others.slice(0, mostProblems).map((text) => markup`<li><bdi>${text}</bdi></li>`);
  return card('Backups, schedules and node policies', markup`<ul class="problems">${items}</ul>`);
}

function sectionCards({ sections = [] }: ShownReport): Html {
  const cards = sections.slice(0, mostProblems).map(({ title, lines }) => {
    const items = lines.slice(0, mostProblems);
    return card(title, markup`<ul class="problems">${items.map((text) => markup`<li><bdi>${text}</bdi></li>`)}</ul>`);
  });
  return markup`${cards}`;
}

function clusterCard({ namespace, name, intent, planned, problem, fields = [] }: ShownCluster, open: boolean): Html {
  const key = `${namespace}/${name}`;
  const title = markup`<h2><bdi>${key}</bdi></h2><span class="quiet">${intents[intent]}</span>`;
  const items = fields.slice(0, mostFields).map((field) => markup`<li><bdi>${field}</bdi></li>`);
  const changed = markup`${items.length > 0 && markup`<ul class="problems">${items}</ul>`}`;
  if (!planned) {
    return markup`<section class="card" aria-label="${key}"><div class="title">${title}</div>${changed}<p>It could not be looked at: <bdi>${problem ?? ''}</bdi></p></section>`;
  }
  const { summary } = planned;
  return markup`<section class="card" aria-label="${key}"><div class="title">${title}</div>${changed}<details${open && markup` open`}><summary><bdi>${summary}</bdi></summary>${planSteps(planned)}</details></section>`;
}
