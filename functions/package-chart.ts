import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { version } from '../manifests/release.ts';

const checkout = join(import.meta.dirname, '..');

/** Packs the Helm chart as `helm package` does, without network, and returns the file that was written. */
export async function packageChart(outdir = join(checkout, 'dist/package')): Promise<string> {
  const staging = join(outdir, 'chart');
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  await cp(join(checkout, 'manifests/helm/etcd-ratchet'), join(staging, 'etcd-ratchet'), { recursive: true });
  await copyFile(join(checkout, 'LICENSE'), join(staging, 'etcd-ratchet/LICENSE'));
  const archive = join(outdir, `etcd-ratchet-${version}.tgz`);
  await promisify(execFile)('tar', ['-czf', archive, '-C', staging, 'etcd-ratchet']);
  await rm(staging, { recursive: true });
  return archive;
}
