import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { localSettings } from '../../support/network.ts';
import type { Scene } from './scene.ts';

const manifests = resolve(import.meta.dirname, '../../../manifests/install');

/**
 * The variant that has nothing cluster-wide, in the scene's namespace; not the whole: it would tick everybody's
 * clusters.
 */
export function installNamespaced({ namespace, kubectl }: Scene): Promise<void> {
  return applied({ namespace, kubectl }, []);
}

/** The same with components of manifests/install/components, as a person would put them together. */
export function installNamespacedWith(...components: readonly string[]): (scene: Scene) => Promise<void> {
  return (scene) => applied(scene, components);
}

/** A day that no year has: where triggers are the scenario's own. */
export const never = '0 0 31 2 *';

/** The scene's Git server and forge are beside the cluster, and speak plain HTTP. */
export const settings = Object.entries(localSettings).map(([key, value]) => `${key}=${value}`);

/** For a kustomization. */
export function ticksAt(schedule: string): object {
  const patch = JSON.stringify([{ op: 'replace', path: '/spec/schedule', value: schedule }]);
  return { target: { kind: 'CronJob', name: 'etcd-ratchet' }, patch };
}

async function applied(
  { namespace, kubectl }: Pick<Scene, 'namespace' | 'kubectl'>,
  components: readonly string[],
): Promise<void> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), `${namespace}-`)));
  try {
    const kustomization = {
      namespace,
      resources: [relative(directory, join(manifests, 'namespaced'))],
      configMapGenerator: [{ name: 'etcd-ratchet-settings', literals: settings }],
      generatorOptions: { disableNameSuffixHash: true },
      components: components.map((name) => relative(directory, join(manifests, 'components', name))),
      patches: [ticksAt(never)],
    };
    await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization));
    await kubectl(['apply', '--server-side', '-k', directory]);
    // As an admin of the cluster does once for all such installations.
    await kubectl(['apply', '--server-side', '-k', join(manifests, 'own-account')]);
  } finally {
    await rm(directory, { recursive: true });
  }
}
