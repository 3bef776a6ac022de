import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { kubectlFor } from '../../support/cluster/kubectl.ts';

const manifests = resolve(import.meta.dirname, '../../../manifests');
const components = ['page', 'page-shared', 'webhooks'].map((name) => `../manifests/install/components/${name}`);

/** What a person may apply: each alone, and an installation with all that runs beside it. */
const installations = {
  whole: { resources: ['../manifests/install'] },
  namespaced: { resources: ['../manifests/install/namespaced'] },
  'with components': { resources: ['../manifests/install'], components },
  knative: { resources: ['../manifests/knative'] },
  'knative, webhooks alone': { resources: ['../manifests/knative/webhooks'] },
};

const { kubernetes } = await provisionBinaries();
const kubectl = kubectlFor(kubernetes.kubectl, '/dev/null');

for (const [name, kustomization] of Object.entries(installations)) {
  test(`one line changes the image of everything that runs: ${name}`, async () => {
    const directory = await realpath(await mkdtemp(join(tmpdir(), 'one-image-')));
    try {
      await cp(manifests, join(directory, 'manifests'), { recursive: true });
      const component = join(directory, 'manifests/image/kustomization.yaml');
      const text = await readFile(component, 'utf8');
      await writeFile(component, text.replace(/newTag: .*/, 'newName: registry.example.com/ours\n    newTag: v9'));
      await mkdir(join(directory, 'own'));
      await writeFile(join(directory, 'own/kustomization.yaml'), JSON.stringify(kustomization));

      const images = imagesIn(await kubectl(['kustomize', join(directory, 'own')]));
      assert.ok(images.length > 0);
      assert.deepEqual(new Set(images), new Set(['registry.example.com/ours:v9']));
    } finally {
      await rm(directory, { recursive: true });
    }
  });
}

/** Of all containers, wherever a kind keeps its pod template. */
function imagesIn(rendered: string): string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'image' && typeof inner === 'string') found.push(inner);
      else visit(inner);
    }
  };
  for (const document of parseAllDocuments(rendered)) visit(document.toJS());
  return found;
}
