import type { BackupTarget, SnapshotSource } from '../api/backup-settings.ts';
import type { EtcdBackup } from '../api/etcd-backup.ts';
import { claimNamedIn, parseObjectTemplate } from '../api/object-template.ts';
import { networkStores, type StoreSettings } from '../stores/stores.ts';
import { kubectl } from './kubectl.ts';
import { labels } from './names.ts';

/**
 * What the author of a backup or a restore names in the namespace, and may use only where its owner offers it: the
 * Jobs are ours, so the author's own rights say nothing of it.
 */
export interface Named {
  readonly kind: 'Secret' | 'ServiceAccount' | 'PersistentVolumeClaim';
  readonly name: string;
}

const offered = 'true';

/** On everything that backups and restores may use. */
export const forBackupsLabels = { [labels.forBackups]: offered } as const;

type Settings = StoreSettings &
  Pick<BackupTarget & SnapshotSource, 'object' | 'caBundle' | 'encryption' | 'serviceAccountName'>;

/** The account `default` as well, where it is named: without a name, the pod shows no identity of a cloud. */
export function namedBy(settings: Settings): readonly Named[] {
  const { object, caBundle, encryption = {}, serviceAccountName } = settings;
  const claim = claimNamedIn(parseObjectTemplate(object));
  const ofStores = networkStores.map((kind) => kind.secretName(settings));
  return [
    ...[...ofStores, caBundle?.secretName, encryption.recipientsSecretName, encryption.identitySecretName].flatMap(
      (name) => named('Secret', name),
    ),
    ...named('ServiceAccount', serviceAccountName),
    ...named('PersistentVolumeClaim', claim),
  ];
}

/** With the certificate of an etcd without an EtcdCluster. */
export function namedByBackup({ to, source }: Pick<EtcdBackup['spec'], 'to' | 'source'>): readonly Named[] {
  return [...namedBy(to), ...named('Secret', source?.tlsSecretName)];
}

/** Nothing where there is no name. */
function named(kind: Named['kind'], name: string | undefined): readonly Named[] {
  return name === undefined ? [] : [{ kind, name }];
}

export function isOffered({ labels: given = {} }: { readonly labels?: Readonly<Record<string, string>> }): boolean {
  return given[labels.forBackups] === offered;
}

/** What its owner runs to offer it. */
export function offerCommand(namespace: string | undefined, { kind, name }: Named): string {
  return kubectl({ namespace }, `label --overwrite ${kind.toLowerCase()} ${name} ${labels.forBackups}=${offered}`);
}
