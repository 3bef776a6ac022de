import { isVersion } from '../../../manifests/api/version.ts';
import { valueIn } from './bolt.ts';

/**
 * The version of a snapshot's data: an etcd of a lower minor does not start on them. From 3.6 on it is their own;
 * before, that of the cluster, which follows its last member. `undefined`: they do not say.
 */
export async function dataVersionOf(file: string): Promise<string | undefined> {
  const said = (await valueIn(file, 'meta', 'storageVersion')) ?? (await valueIn(file, 'cluster', 'clusterVersion'));
  const version = said?.toString('latin1') ?? '';
  return isVersion(version) ? version : undefined;
}
