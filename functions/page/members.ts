import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterMemberStatus } from '../../manifests/api/etcd-cluster-status.ts';
import { type Html, markup } from './markup.ts';
import { badge, card, empty, table } from './parts.ts';
import { quotaOf, toneOfShare } from './quota.ts';
import { size } from './short.ts';
import { memberState } from './state.ts';
import { ago } from './time.ts';

const heads = ['Member', 'State', 'Role', 'Version', 'Database', 'ID'];

export function membersCard(cluster: EtcdCluster, now: Date): Html {
  const { status, spec } = cluster;
  const quota = quotaOf(cluster);
  const members = status?.members ?? [];
  if (members.length === 0) {
    return card('Members', empty(spec.replicas === 0 ? 'None is asked for.' : 'None yet.'));
  }
  return card(
    'Members',
    table(
      heads,
      members.map((member) => row(member, { leader: status?.leader, quota, now })),
    ),
  );
}

function row(
  member: ClusterMemberStatus,
  {
    leader,
    quota,
    now,
  }: { readonly leader: string | undefined; readonly quota: number | undefined; readonly now: Date },
): Html {
  const { name, id, version } = member;
  return markup`<tr role="row"><th scope="row" role="rowheader"><bdi>${name}</bdi></th><td role="cell" data-label="State"><span>${healthOf(member, now)}</span></td><td role="cell" data-label="Role" class="nowrap"><span>${roleOf(member)}${name === leader && markup`, <b>leads</b>`}</span></td><td role="cell" data-label="Version" class="nowrap">${version ?? markup`<span class="quiet">–</span>`}</td><td role="cell" data-label="Database">${databaseOf(member, quota)}</td><td role="cell" data-label="ID">${id === undefined ? markup`<span class="quiet">–</span>` : markup`<code>${id}</code>`}</td></tr>`;
}

function roleOf({ role }: ClusterMemberStatus): Html {
  return role === undefined ? markup`<span class="quiet">not on the list</span>` : markup`${role}`;
}

function healthOf(member: ClusterMemberStatus, now: Date): Html {
  const state = memberState(member);
  const since = state.tone !== 'good' && member.unhealthySince;
  return markup`${badge(state)}${since && markup`<span class="said">since ${ago(since, now)}</span>`}`;
}

/** Its file, which the quota is about, and how much of it is in use: a defragmentation gives back the rest. */
function databaseOf({ dbBytes, dbInUseBytes }: ClusterMemberStatus, quota: number | undefined): Html {
  if (dbBytes === undefined) return markup`<span class="quiet">–</span>`;
  const used = Math.min(dbInUseBytes ?? dbBytes, dbBytes);
  const all = Math.max(quota ?? dbBytes, 1);
  const percent = (bytes: number) => Math.min(100, Math.round((bytes / all) * 100));
  const share = quota === undefined ? '' : ` of ${size(quota)}, ${percent(dbBytes)}%`;
  const tone = quota === undefined ? 'good' : toneOfShare(dbBytes / quota);
  const filled = tone === 'good' ? markup`${size(dbBytes)}${share}` : badge({ tone, word: `${size(dbBytes)}${share}` });
  return markup`<div>${filled}<span class="said">${size(used)} in use</span><svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="4"/><rect class="file" width="${percent(dbBytes)}" height="4"/><rect class="used" width="${percent(used)}" height="4"/></svg></div>`;
}
