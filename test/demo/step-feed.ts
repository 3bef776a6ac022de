import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { ClusterHistoryEntry } from '../../manifests/api/etcd-cluster-status.ts';
import type { Narrator } from './narrator.ts';

/** Says every step of every cluster as it appears in the history, and what is waited for in between. */
export function followSteps(narrator: Narrator): (clusters: readonly EtcdCluster[]) => void {
  const told = new Map<string, { entries: number; resting: string }>();
  return (clusters) => {
    for (const { metadata, status } of clusters) {
      const name = metadata.name;
      const before = told.get(name) ?? { entries: 0, resting: '' };
      const history = status?.history ?? [];
      for (const entry of history.slice(before.entries)) narrator.say(sentence(name, entry));
      const { kind = 'Act', reason = '', message = '' } = status?.lastDecision ?? {};
      const resting = kind === 'Act' ? before.resting : `${reason}: ${message}`;
      if (resting !== before.resting) narrator.say(`${name}  ${kind === 'Wait' ? '…' : '·'} ${resting}`);
      told.set(name, { entries: history.length, resting });
    }
  };
}

function sentence(name: string, { action, reason, message, outcome }: ClusterHistoryEntry): string {
  return `${name}  → ${action} (${reason}): ${message}${outcome === 'acted' ? '' : ` [${outcome}]`}`;
}
