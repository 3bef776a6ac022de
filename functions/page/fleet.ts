import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { FleetProblem, RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import { fleetDefaults } from '../../manifests/api/spec-defaults.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { fleetConcerns } from './attention.ts';
import { chips, chosenOf } from './chips.ts';
import { clusterTable } from './cluster-table.ts';
import { layout } from './layout.ts';
import { checkHref, linked } from './links.ts';
import { type Html, markup } from './markup.ts';
import { pageOf, pager } from './pager.ts';
import {
  approvalsCard,
  badge,
  card,
  concern,
  concerns,
  conditionsCard,
  empty,
  facts,
  revision,
  stateBadge,
} from './parts.ts';
import { plainQuery, type Query } from './query.ts';
import { type Said, saying } from './said.ts';
import { byUrgency, checkState, clusterState, fleetState, revisionTones } from './state.ts';
import { age, ago } from './time.ts';

export interface FleetData {
  readonly fleet: EtcdFleet;
  /** Its own clusters, as far as the user may see them. */
  readonly clusters: readonly EtcdCluster[];
  readonly query?: Query;
  readonly now: Date;
}

const root = '../../';

export function fleetPage({ fleet, clusters, query = plainQuery, now }: FleetData): Html {
  const state = fleetState(fleet);
  const shown = pageOf(byUrgency(chosenOf(clusters, query), clusterState), query.page);
  const urgent = fleetConcerns(fleet, now);
  const said = saying([state.message, ...urgent.map(({ message }) => message)]);
  const body = markup`<div class="title"><h1><bdi>${keyOf(fleet)}</bdi></h1>${stateBadge(state)}</div>
${state.tone === 'bad' ? '' : markup`<p class="lead quiet"><bdi>${state.message}</bdi></p>`}
${concerns(urgent.map((one) => concern(one)))}
${approvalsCard(fleet, 'fleet')}
${summary(fleet, now)}
${problemsCard(fleet, said)}
${requestsCard(fleet, root)}
${card('Clusters', chips(clusters, query), shown.total > 0 ? clusterTable({ clusters: shown.items, root, now }) : empty(query.state === undefined ? 'No cluster yet.' : 'None.'), pager(shown, query))}
${revisionsCard(fleet, now)}
${conditionsCard(fleet.status?.conditions, now, said)}`;
  return layout({
    title: `${keyOf(fleet)} · etcd-ratchet`,
    root,
    tone: state.tone,
    path: [{ text: keyOf(fleet) }],
    query: { ...query, page: shown.page },
    now,
    body,
  });
}

function summary(fleet: EtcdFleet, now: Date): Html {
  const { metadata, spec, status } = fleet;
  const { url, ref, path = fleetDefaults.path } = spec.git;
  const { applied, attempted } = status?.revision ?? {};
  const { ready = 0, total = 0 } = status?.clusters ?? {};
  const { verification } = status ?? {};
  return markup`<section class="card" aria-label="Summary">${facts([
    { name: 'Repository', value: linked(url, shortened(url)), wide: true },
    { name: 'Reference', value: markup`<bdi>${ref}</bdi>` },
    { name: 'Directory', value: markup`<bdi>${path}</bdi>`, wide: 'on a phone' },
    { name: 'Applied', value: revision(applied, fleet) },
    attempted !== applied && { name: 'Being applied', value: revision(attempted, fleet) },
    verification && {
      name: 'Signed by',
      value: markup`<bdi>${verification.signedBy}</bdi>, ${revision(verification.revision, fleet)}`,
      wide: 'on a phone',
    },
    { name: 'Clusters ready', value: `${ready} of ${total}` },
    { name: 'Last pass', value: ago(status?.lastRun, now) },
    { name: 'Prunes', value: spec.prune ? 'yes' : 'no' },
    { name: 'Age', value: age(metadata.creationTimestamp, now) },
  ])}</section>`;
}

/** Host and path only: an address may hold credentials. */
function shortened(address: string): string {
  const url = URL.parse(address);
  return url ? `${url.host}${url.pathname.replace(/\.git$/, '')}` : '–';
}

function problemsCard({ status }: EtcdFleet, said: Said): Html {
  const problems = status?.problems ?? [];
  const isSaid = problems.every((problem) => said.has(`${placeOf(problem)}: ${problem.message}`));
  if (isSaid && (status?.problemCount ?? 0) <= problems.length) return markup``;
  const more = (status?.problemCount ?? problems.length) - problems.length;
  return card('Problems in documents', problemList(problems), more > 0 && empty(`and ${more} more`));
}

export function problemList(problems: readonly FleetProblem[]): Html {
  return markup`<ul class="problems">${problems.map(
    (problem) => markup`<li><bdi class="code">${placeOf(problem)}</bdi><br><bdi>${problem.message}</bdi></li>`,
  )}</ul>`;
}

function placeOf({ file, line, column }: FleetProblem): string {
  return line > 0 ? `${file}:${line}:${column}` : file;
}

/** What asks to be merged, and what its check came to. What touches nothing here is left out. */
function requestsCard({ status }: EtcdFleet, root: string): Html {
  const checks = (status?.checks ?? []).filter(({ state }) => state !== 'untouched' && state !== 'withheld');
  if (checks.length === 0) return markup``;
  return card('Open requests', markup`<ul class="problems">${checks.map((check) => requestItem(check, root))}</ul>`);
}

function requestItem({ number, head, state, description }: RequestCheck, root: string): Html {
  return markup`<li><a href="${checkHref(root, head)}">#${number}</a> ${badge(checkState(state))} <code>${head.slice(0, 10)}</code><br><bdi>${description}</bdi></li>`;
}

/** The last commits and what came of them, the newest first. */
function revisionsCard(fleet: EtcdFleet, now: Date): Html {
  const history = fleet.status?.history ?? [];
  if (history.length === 0) return markup``;
  const rows = history.map(
    ({ revision: text, outcome, at }) =>
      markup`<li><span>${ago(at, now)}</span><div>${revision(text, fleet)} ${badge({ tone: revisionTones[outcome] ?? 'calm', word: outcome })}</div></li>`,
  );
  return card('Revisions', markup`<ol class="past">${rows}</ol>`);
}
