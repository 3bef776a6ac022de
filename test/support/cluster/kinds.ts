import { resolve } from 'node:path';
import type { Kubectl } from './kubectl.ts';

const crds = resolve(import.meta.dirname, '../../../manifests/install/crds');

/** Our CustomResourceDefinitions, as this checkout has them. Resolves once they are served. */
export async function installKinds(kubectl: Kubectl): Promise<void> {
  await kubectl(['apply', '--server-side', '-k', crds]);
  await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
}
