import { type Offer, orElse } from '../../reasons/offers.ts';
import type { Situation } from '../know/situation.ts';

/** From the newest backup, and from the snapshot that spec.rollback asks for, as far as there are any. */
export function restores(situation: Situation): readonly Offer[] {
  const { newestBackup, effective } = situation;
  const asked = effective.refusals.find(({ reason }) => reason === 'RollbackNotApproved');
  return [
    ...(newestBackup ? [since(`restore a backup beside it: ${restoring(situation)}`)] : []),
    ...(asked ? [since(`as spec.rollback asks, go on from its snapshot under this name; ${asked.cure}`)] : []),
  ];
}

/** The same, after a cure that loses nothing; nothing where there is no backup. */
export function orRestore(situation: Situation): string {
  return situation.newestBackup ? `${orElse}restore a backup beside it: ${restoring(situation)}` : '';
}

/** By `--force-new-cluster`: a watch from above the present revision is answered by etcd, and stays silent. */
export const revisionsGoBack = 'revisions may go back, so every client that watches must be restarted then';

function since(cure: string): Offer {
  return { loses: 'since', cure };
}

/** The newest backup, and the document that restores it: beside this cluster, whose data it never touches. */
export function restoring(situation: Situation): string {
  const { cluster, newestBackup } = situation;
  const { name, namespace = 'default' } = cluster.metadata;
  if (!newestBackup) return 'no EtcdBackup of it is Ready';
  const { takenAt, verified, revision, snapshot, formerLife } = newestBackup;
  const { replicas, version, storage } = cluster.spec;
  const clusterID = cluster.status?.clusterID;
  const document = {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: `${name.slice(0, 39)}-restored`, namespace },
    spec: { replicas: Math.max(1, replicas), version, storage, bootstrap: { snapshot } },
  };
  const what = verified ? 'verified backup' : 'backup, which was not restored yet,';
  const until = revision === undefined ? '' : `, up to revision ${revision}`;
  // The approval of an EtcdBackup of another etcd cluster names that one, too.
  const wish = formerLife ? { clusterID, backupName: newestBackup.name } : { clusterID, snapshot };
  return `${whose(situation)}the newest ${what} is EtcdBackup ${newestBackup.name} of ${takenAt}${until}; what was written later is not in it. ${
    clusterID === undefined
      ? ''
      : `This, as spec.rollback of ${name}, goes back to it under the same name, with the same Services and certificates, when you approve it: ${JSON.stringify(wish)}. `
  }This restores it beside ${name}, with what else the spec of ${name} has: ${JSON.stringify(document)}`;
}

/** Of a life that is over it is said before all else. */
function whose({ cluster, newestBackup }: Situation): string {
  const { formerLife } = newestBackup ?? {};
  if (!formerLife) return '';
  const now = cluster.status?.clusterID ?? '(unknown)';
  const what = formerLife.isOrigin
    ? 'is what this one went back to, without anything that was written since'
    : 'may hold what was rolled back, and has nothing that was written since';
  return `no backup of the present etcd cluster ${now} is Ready. Of etcd cluster ${formerLife.clusterId}, which was given up for it in a rollback, and whose backup ${what}: `;
}
