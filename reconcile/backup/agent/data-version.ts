import { isVersion } from '../../../manifests/api/version.ts';
import { valueIn } from './bolt.ts';

/**
 * Of which version the data in a snapshot are, as etcd wrote it into them: an etcd of a lower minor does not start on
 * them. From 3.6 on their own version; before, that of the cluster, which follows its last member.
 *
 * @returns `undefined` where they do not say.
 */
export async function dataVersionOf(file: string): Promise<string | undefined> {
  const said = (await valueIn(file, 'meta', 'storageVersion')) ?? (await valueIn(file, 'cluster', 'clusterVersion'));
  const version = said?.toString('latin1') ?? '';
  return isVersion(version) ? version : undefined;
}
