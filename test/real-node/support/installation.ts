import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { after, before } from 'node:test';
import { parse } from 'yaml';
import { environment } from '../../e2e/support/environment.ts';

const manifests = resolve(import.meta.dirname, '../../../manifests');

/** What people install, unchanged, for the tests of a file: its CronJob is the only one that ticks. */
export function installation(): void {
  before(async () => {
    await environment().kubectl(['apply', '--server-side', '-k', `${manifests}/install`]);
    await environment().kubectl(['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
  });
  // But for its kinds: other files of a run use them.
  after(async () => {
    await environment().kubectl(['delete', '--ignore-not-found', 'namespace', 'etcd-ratchet'], {
      timeoutMilliseconds: 120_000,
    });
  });
}

/** As the installation names it. */
export async function ownImage(): Promise<string> {
  const { images } = parse(await readFile(`${manifests}/image/kustomization.yaml`, 'utf8')) as {
    readonly images: readonly [{ readonly name: string; readonly newTag: string }];
  };
  const [{ name, newTag }] = images;
  return `${name}:${newTag}`;
}
