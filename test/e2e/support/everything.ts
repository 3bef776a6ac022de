import { mkdtempDisposable, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from '../../demo/install.ts';
import { allComponents, monitoringKinds, partsFor } from '../../integration/manifests/all-components.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import { localSettings } from '../../support/network.ts';

/** An installation with all components at once, as far as the cluster has the kinds. @param schedule of its ticks */
export async function installEverything(kubectl: Kubectl, schedule?: string): Promise<void> {
  await kubectl(['apply', '-f', '-'], { stdin: monitoringKinds.map((one) => JSON.stringify(one)).join('\n---\n') });
  await install(kubectl);
  await using home = await mkdtempDisposable(join(tmpdir(), 'everything-'));
  const directory = await realpath(home.path);
  const literals = Object.entries(localSettings).map(([key, value]) => `${key}=${value}`);
  const patch = JSON.stringify([{ op: 'replace', path: '/spec/schedule', value: schedule }]);
  await writeFile(
    join(directory, 'kustomization.yaml'),
    JSON.stringify({
      ...partsFor(directory, allComponents),
      configMapGenerator: [{ name: 'etcd-ratchet-settings', namespace: 'etcd-ratchet', literals }],
      generatorOptions: { disableNameSuffixHash: true },
      ...(schedule !== undefined && { patches: [{ target: { kind: 'CronJob', name: 'etcd-ratchet' }, patch }] }),
    }),
  );
  await kubectl(['apply', '--server-side', '--force-conflicts', '-k', directory]);
}
