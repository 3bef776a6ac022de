import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { type Html, markup } from './markup.ts';
import { hrefOf, type Query } from './query.ts';
import { byUrgency, clusterState, type State } from './state.ts';

/** How many clusters are in which state: each is a link to those, and the one that is chosen leads back to all. */
export function chips(clusters: readonly EtcdCluster[], query: Query): Html {
  const sums = new Map<string, { state: Pick<State, 'tone' | 'word'>; count: number }>();
  for (const state of byUrgency(clusters, clusterState).map(clusterState))
    sums.set(state.word, { state, count: (sums.get(state.word)?.count ?? 0) + 1 });
  const chosen = query.state;
  if (chosen !== undefined && !sums.has(chosen)) sums.set(chosen, { state: { tone: 'calm', word: chosen }, count: 0 });
  if (sums.size === 0) return markup``;
  const items = [...sums.values()].map(({ state: { tone, word }, count }) => chip(tone, word, count, query));
  return markup`<nav aria-label="States"><ul class="sums">${items}</ul></nav>`;
}

function chip(tone: string, word: string, count: number, { refreshes, state }: Query): Html {
  const isChosen = word === state;
  const href = hrefOf({ page: 1, refreshes, ...(!isChosen && { state: word }) });
  return markup`<li><a class="${tone}" href="${href}"${isChosen && markup` aria-current="true"`}><b>${count}</b> ${word}${isChosen && markup` <span aria-hidden="true">×</span><span class="unseen"> only: show all</span>`}</a></li>`;
}

/** Those that the address asks for. */
export function chosenOf(clusters: readonly EtcdCluster[], { state }: Query): readonly EtcdCluster[] {
  return state === undefined ? clusters : clusters.filter((cluster) => clusterState(cluster).word === state);
}
