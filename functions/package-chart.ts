import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { version } from '../manifests/release.ts';
import { entriesBelow, tarOf } from './shipping/tar.ts';

const checkout = join(import.meta.dirname, '..');

/** Packs the Helm chart as `helm package` does, without network, and returns the file that was written. */
export async function packageChart(outdir = join(checkout, 'dist/package')): Promise<string> {
  const archive = join(outdir, `etcd-ratchet-${version}.tgz`);
  const chart = await entriesBelow(join(checkout, 'manifests/helm/etcd-ratchet'), 'etcd-ratchet/');
  const license = { path: 'etcd-ratchet/LICENSE', content: await readFile(join(checkout, 'LICENSE')) };
  await mkdir(outdir, { recursive: true });
  await writeFile(archive, gzipSync(await tarOf([...chart, license])));
  return archive;
}
