import { claimNamedIn, parseLocation, parseObjectTemplate } from '../../manifests/api/object-template.ts';
import { isPlainObject } from '../../manifests/api/plain-data.ts';
import { clusterOfVolume } from '../../manifests/render/member-volume.ts';
import { onMember } from '../objects/member-volume.ts';
import type { DesiredSpec } from './reading.ts';

interface Field {
  readonly path: string;
  /** Read once, when the object is new. */
  readonly once?: true;
  /** A name as it stands in a store, without variables. */
  readonly whole?: true;
}

/** What names an object of a store, by kind. */
const fields: Readonly<Record<string, readonly Field[]>> = {
  EtcdBackup: [{ path: 'to.object', once: true }],
  EtcdBackupSchedule: [{ path: 'template.to.object' }],
  EtcdRestore: [
    { path: 'from.object', whole: true, once: true },
    { path: 'cluster.spec.backup.to.object', once: true },
  ],
  EtcdCluster: [
    { path: 'backup.to.object' },
    { path: 'bootstrap.snapshot.object', whole: true, once: true },
    { path: 'rollback.snapshot.object', whole: true },
  ],
};

interface Wrong {
  /** From the document's root. */
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * The first field of a document that puts or finds a backup on a member's volume. Pure.
 * @param clusters names of those in its namespace
 * @param isThere whether the object is live already
 */
export function backupOnMember(
  { object: { spec }, kind }: DesiredSpec,
  clusters: readonly string[],
  isThere: boolean,
): Wrong | undefined {
  const known = kind === 'EtcdRestore' ? [...clusters, ...textAt(spec, 'cluster.name')] : clusters;
  const wrong = (fields[kind] ?? []).filter(({ once }) => !(once && isThere)).flatMap((field) => onMembers(field));
  return wrong[0];

  function onMembers({ path, whole }: Field): readonly Wrong[] {
    const claims = textAt(spec, path)
      .map(whole ? parseLocation : parseObjectTemplate)
      .flatMap((place) => claimNamedIn(place) ?? []);
    return claims.flatMap((claim) => {
      const cluster = clusterOfVolume(claim, known);
      if (cluster === undefined) return [];
      const message = `spec.${path}: ${onMember(claim, cluster)}: name another PersistentVolumeClaim`;
      return [{ path: ['spec', ...path.split('.')], message }];
    });
  }
}

function textAt(value: unknown, path: string): readonly string[] {
  const found = path.split('.').reduce<unknown>((one, key) => (isPlainObject(one) ? one[key] : undefined), value);
  return typeof found === 'string' ? [found] : [];
}
