import { kubectl, resourceName } from '../../../manifests/render/kubectl.ts';
import { annotations } from '../../../manifests/render/names.ts';
import { driftOf, removalOf, sayDrift } from '../../objects/drift.ts';
import { plainWord } from '../../objects/hands.ts';
import { withCure } from '../../reasons/cure.ts';
import type { Situation } from '../know/situation.ts';
import type { Statement } from '../know/statement.ts';

/** Abnormal while true: fields of the live spec that no commit set, which go with no commit either. */
export function driftStatement({ cluster }: Pick<Situation, 'cluster'>): readonly Statement[] {
  const drift = driftOf('EtcdCluster', cluster);
  if (!drift) return [];
  const { name, namespace, annotations: marks } = cluster.metadata;
  const patch = removalOf(drift);
  const remove =
    patch === undefined
      ? `edit ${resourceName('etcdclusters')} ${name}`
      : `patch ${resourceName('etcdclusters')} ${name} --type=merge -p '${patch}'`;
  const message = withCure(
    `live, and not set by Git: ${sayDrift(drift)}`,
    `list them in ${plainWord(marks?.[annotations.source] ?? '', 200) || 'its file'}, or remove them: ${kubectl({ namespace }, remove)}`,
  );
  return [{ type: 'Drifted', status: 'True', reason: 'FieldsNotInGit', message }];
}
