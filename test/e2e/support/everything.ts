import { mkdtempDisposable, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from '../../demo/install.ts';
import { allComponents, monitoringKinds, partsFor } from '../../integration/manifests/all-components.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import { settings, ticksAt } from './installed.ts';

/** An installation with all components at once, as far as the cluster has the kinds. @param schedule of its ticks */
export async function installEverything(kubectl: Kubectl, schedule?: string): Promise<void> {
  await kubectl(['apply', '-f', '-'], { stdin: monitoringKinds.map((one) => JSON.stringify(one)).join('\n---\n') });
  await install(kubectl);
  await using home = await mkdtempDisposable(join(tmpdir(), 'everything-'));
  const directory = await realpath(home.path);
  await writeFile(
    join(directory, 'kustomization.yaml'),
    JSON.stringify({
      ...partsFor(directory, allComponents),
      configMapGenerator: [{ name: 'etcd-ratchet-settings', namespace: 'etcd-ratchet', literals: settings }],
      generatorOptions: { disableNameSuffixHash: true },
      ...(schedule !== undefined && { patches: [ticksAt(schedule)] }),
    }),
  );
  await kubectl(['apply', '--server-side', '--force-conflicts', '-k', directory]);
}
