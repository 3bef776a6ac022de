import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterHistoryEntry } from '../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { type Html, markup } from './markup.ts';
import { badge, card, empty, revision } from './parts.ts';
import { ago } from './time.ts';

/** What was done and why, the newest first. */
export function historyCard({ status }: EtcdCluster, fleet: EtcdFleet | undefined, now: Date): Html {
  const history = status?.history ?? [];
  if (history.length === 0) return card('What was done', empty('Nothing yet.'));
  return card(
    'What was done',
    markup`<ol class="past" reversed>${history.toReversed().map((entry) => row(entry, fleet, now))}</ol>`,
  );
}

function row(entry: ClusterHistoryEntry, fleet: EtcdFleet | undefined, now: Date): Html {
  const { at, action, target, reason, message, outcome } = entry;
  const failed = outcome === 'failed' && markup`${badge({ tone: 'bad', word: 'failed' })} `;
  return markup`<li><span>${ago(at, now)}</span><div>${failed}<bdi>${message}</bdi><div class="quiet small">${action}${target && markup` <bdi>${target}</bdi>`} · ${reason}${entry.revision !== undefined && markup` · ${revision(entry.revision, fleet)}`}</div></div></li>`;
}
