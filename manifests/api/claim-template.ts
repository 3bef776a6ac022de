import { isPlainObject } from './plain-data.ts';
import { dotted, type Path, type Problems } from './problem.ts';

const ownedInClaims: Readonly<Record<string, string>> = {
  resources: 'the size is spec.storage.size',
  storageClassName: 'use spec.storage.storageClassName',
  volumeName: 'one volume cannot serve every member; use a selector',
  dataSource: 'a member starts on an empty volume or on its own',
  dataSourceRef: 'a member starts on an empty volume or on its own',
};

/** What a volumeClaimTemplate may not have, because it has a field of its own or because etcd could not live on it. */
export function findBadClaim(template: unknown, path: Path, problems: Problems): void {
  if (!isPlainObject(template) || !isPlainObject(template.spec)) return;
  const spec = template.spec;

  for (const [key, cure] of Object.entries(ownedInClaims)) {
    const at = [...path, 'spec', key];
    if (Object.hasOwn(spec, key) && spec[key] !== null) problems.add(at, `${dotted(at)} may not be set: ${cure}`);
  }
  if (spec.volumeMode === 'Block') {
    const at = [...path, 'spec', 'volumeMode'];
    problems.add(at, `${dotted(at)} must be Filesystem: etcd keeps files`);
  }
  const modes = spec.accessModes;
  if (Array.isArray(modes) && modes.every((mode) => mode === 'ReadOnlyMany')) {
    const at = [...path, 'spec', 'accessModes'];
    problems.add(at, `${dotted(at)} must allow writing: ReadWriteOnce or ReadWriteOncePod`);
  }
}
