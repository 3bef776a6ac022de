import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import { type Html, markup } from './markup.ts';
import { badge, stateWithWords, table } from './parts.ts';
import { policyState } from './state.ts';
import { ago } from './time.ts';

const heads = ['Node', 'State', 'Why'];
const mostPolicies = 20;
const mostNodes = 20;

/** Nodes that reboot, by their policies. Nothing where there is none, or none that the user may see. */
export function nodesCards(policies: readonly EtcdNodePolicy[], now: Date): Html {
  const byName = policies.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const left = byName.length - mostPolicies;
  const more = left > 0 ? markup`<p class="quiet small">and ${left} other node policies</p>` : markup``;
  return markup`${byName.slice(0, mostPolicies).map((policy) => policyCard(policy, now))}${more}`;
}

function policyCard(policy: EtcdNodePolicy, now: Date): Html {
  const { metadata, status } = policy;
  const { name } = metadata;
  const { nodes = 0, needed = 0, inProgress = 0, done = 0, lastDone, grants = [], blocked = [] } = status ?? {};
  const state = stateWithWords(policyState(policy));
  const told = new Map(blocked.map((one) => [one.node, one]));
  const begun = grants.map(({ node, at, why }) => {
    const { reason = 'Granted', message = why } = told.get(node) ?? {};
    return row({ node, tone: 'busy', reason, message, since: markup`begun ${ago(at, now)}` });
  });
  const under = new Set(grants.map(({ node }) => node));
  const waiting = blocked
    .filter(({ node }) => !under.has(node))
    .map(({ node, reason, message }) => row({ node, tone: 'calm', reason, message }));
  const rows = [...begun, ...waiting];
  const last = lastDone ? markup`, the last ${ago(lastDone.at, now)} (<bdi>${lastDone.node}</bdi>)` : markup``;
  return markup`<section class="card" aria-label="Node policy ${name}"><div class="title"><h2>Nodes of <bdi>${name}</bdi></h2>${state}</div>
<p class="quiet small sub">${nodes} nodes · ${needed} need a reboot · ${inProgress} in progress · ${done} done${last}</p>
${rows.length > 0 && table(heads, rows.slice(0, mostNodes))}${rows.length > mostNodes && markup`<p class="quiet small">and ${rows.length - mostNodes} others</p>`}</section>`;
}

interface Row {
  readonly node: string;
  readonly tone: 'busy' | 'calm';
  readonly reason: string;
  readonly message: string;
  readonly since?: Html;
}

function row({ node, tone, reason, message, since = markup`waits` }: Row): Html {
  return markup`<tr role="row"><th scope="row" role="rowheader"><bdi>${node}</bdi><span class="said">${since}</span></th><td role="cell" data-label="State">${badge({ tone, word: reason })}</td><td role="cell" data-label="Why"><span><bdi>${message}</bdi></span></td></tr>`;
}
