import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { version } from '../manifests/release.ts';
import { bundling } from './build.ts';
import { plugins } from './bundled/plugins.ts';
import { entryOf, oldestNode } from './entry.ts';
import { billOfMaterials, writeNotices } from './materials.ts';
import { packageChart } from './package-chart.ts';
import { completionScript } from './plugin/complete.ts';
import { about, krewManifest } from './shipping/krew.ts';
import { entriesBelow, tarOf } from './shipping/tar.ts';

const checkout = join(import.meta.dirname, '..');

/** What the packages of both kinds run. */
const files = { plugin: 'kubectl-ratchet.js', completion: 'kubectl_complete-ratchet', bundle: 'plugin.js' } as const;

/**
 * Packs `kubectl ratchet` for npm and krew in one archive, without network, and returns the files that were written.
 * @param releaseUrl where people will get the archive from; without it, no manifest for krew is written
 * @throws when a source does not build
 */
export async function packagePlugin(
  outdir = join(checkout, 'dist/package'),
  releaseUrl?: string,
): Promise<{ readonly archive: string; readonly manifest?: string }> {
  const staging = join(outdir, 'kubectl-ratchet');
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  await build({
    ...bundling,
    splitting: false,
    legalComments: 'none',
    plugins: [...plugins, billOfMaterials()],
    entryPoints: [{ in: 'functions/plugin.ts', out: 'plugin' }],
    outdir: staging,
  });
  await writeNotices(staging);
  await copyFile(join(checkout, 'LICENSE'), join(staging, 'LICENSE'));
  await writeFile(join(staging, files.plugin), entryOf('plugin', `./${files.bundle}`), { mode: 0o755 });
  await writeFile(join(staging, files.completion), completionScript, { mode: 0o755 });
  await writeFile(join(staging, 'package.json'), `${JSON.stringify(packageJson, null, 2)}\n`);

  const filename = `kubectl-ratchet-${version}.tgz`;
  const archive = join(outdir, filename);
  // As `npm pack` has it, but for modes: those it takes from who packs.
  await writeFile(archive, gzipSync(await tarOf(await entriesBelow(staging, 'package/'))));
  if (releaseUrl === undefined) return { archive };
  const sha256 = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex');
  const manifest = join(outdir, 'ratchet.yaml');
  const selector = { matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }] };
  const uri = `${releaseUrl.replace(/\/$/, '')}/${filename}`;
  const platform = { selector, uri, sha256, directory: 'package/', bin: files.plugin };
  await writeFile(manifest, krewManifest([platform], `It needs Node ${oldestNode} or later on PATH.\n`));
  return { archive, manifest };
}

const packageJson = {
  name: 'kubectl-ratchet',
  version,
  description: about,
  license: 'Apache-2.0',
  type: 'module',
  engines: { node: `>=${oldestNode}` },
  bin: { 'kubectl-ratchet': files.plugin, 'kubectl_complete-ratchet': files.completion },
} as const;

if (import.meta.main) {
  const { values } = parseArgs({ options: { outdir: { type: 'string' }, 'release-url': { type: 'string' } } });
  const { archive, manifest } = await packagePlugin(values.outdir, values['release-url']);
  console.log(manifest === undefined ? archive : `${archive}\n${manifest}`);
  console.log(await packageChart(values.outdir));
}
