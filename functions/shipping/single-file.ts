import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { version } from '../../manifests/release.ts';
import { bundling } from '../build.ts';
import { plugins } from '../bundled/plugins.ts';
import { endWith } from '../entry.ts';
import { billOfMaterials, materials, writeNotices } from '../materials.ts';
import { completionScript } from '../plugin/complete.ts';
import { type KrewPlatform, krewManifest } from './krew.ts';
import { type Platform, platforms, unpackNode } from './nodes.ts';
import { signAdHoc } from './sign-macho.ts';
import { tarOf } from './tar.ts';

const checkout = join(import.meta.dirname, '../..');
const name = 'kubectl-ratchet';

export interface SingleFileOptions {
  readonly outdir: string;
  /** Where people will get the archives from. */
  readonly url: string;
  readonly only?: readonly Platform[];
}

/**
 * Packs `kubectl ratchet` as one file with Node in it, an archive for each platform, with a manifest for krew, and
 * returns the archives. @throws where this machine's platform is none of them, or a Node is not what was tried
 */
export async function packageSingleFiles(options: SingleFileOptions): Promise<readonly string[]> {
  const { outdir, url, only = platforms } = options;
  const staging = await mkdtemp(join(tmpdir(), 'kubectl-ratchet-'));
  try {
    await bundleInto(staging);
    const builder = join(staging, 'builder');
    await unpackNode(here(), builder);
    await mkdir(outdir, { recursive: true });
    const all: KrewPlatform[] = [];
    const archives: string[] = [];
    for (const platform of only) {
      const executable = await executableFor(platform, staging, join(builder, programOf(here())));
      const content = gzipSync(await tarOf(await filesOf(platform, staging, builder, executable)));
      const file = `${name}-${version}-${platform}.tar.gz`;
      await writeFile(join(outdir, file), content);
      archives.push(join(outdir, file));
      const [os, arch] = platform.split('-');
      all.push({
        selector: { matchLabels: { os, arch } },
        uri: `${url.replace(/\/$/, '')}/${file}`,
        sha256: createHash('sha256').update(content).digest('hex'),
        directory: '',
        bin: fileOf(platform),
      });
    }
    await writeFile(join(outdir, 'ratchet.yaml'), krewManifest(all));
    return archives;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** The platform that builds. */
function here(): Platform {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  const platform = platforms.find((one) => one === `${process.platform}-${arch}`);
  if (!platform || platform.startsWith('windows'))
    throw new Error(`single files are built on Linux and macOS, and this is ${process.platform} on ${process.arch}`);
  return platform;
}

const programOf = (platform: Platform) => (platform.startsWith('windows') ? 'bin/node.exe' : 'bin/node');
const fileOf = (platform: Platform) => (platform.startsWith('windows') ? `${name}.exe` : name);

/** One file in CommonJS: Node takes nothing else into itself. */
async function bundleInto(staging: string): Promise<void> {
  const { chunkNames: _, ...common } = bundling;
  await build({
    ...common,
    splitting: false,
    format: 'cjs',
    banner: {},
    legalComments: 'none',
    plugins: [...plugins, billOfMaterials()],
    stdin: {
      contents: `import { main } from './functions/plugin.ts';
(async () => {
  ${endWith('main(process.argv.slice(2))')}
})();`,
      resolveDir: checkout,
      loader: 'ts',
    },
    outfile: join(staging, 'plugin.cjs'),
  });
  await writeNotices(staging);
}

async function executableFor(platform: Platform, staging: string, builder: string): Promise<Uint8Array> {
  const node = join(staging, 'node');
  await unpackNode(platform, node);
  const output = fileOf(platform);
  const config = {
    // Relative, because Node keeps it in the file.
    main: 'plugin.cjs',
    executable: join(node, programOf(platform)),
    output,
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    // Compiled code fits one processor and one machine.
    useCodeCache: false,
    // A developer's NODE_OPTIONS are for programs that have their modules beside them.
    execArgvExtension: 'none',
  };
  await writeFile(join(staging, 'sea.json'), JSON.stringify(config));
  await promisify(execFile)(builder, ['--build-sea', 'sea.json'], { cwd: staging, timeout: 300_000 });
  const executable = await readFile(join(staging, output));
  for (const used of [node, join(staging, output)]) await rm(used, { recursive: true });
  return platform.startsWith('darwin') ? signAdHoc(executable, name) : executable;
}

async function filesOf(platform: Platform, staging: string, builder: string, executable: Uint8Array) {
  const text = (path: string, content: string | Uint8Array, mode = 0o644) => ({
    path,
    content: Buffer.from(content),
    mode,
  });
  const licences = [
    text('LICENSE', await readFile(join(checkout, 'LICENSE'))),
    text('NODE-LICENSE.txt', await readFile(join(builder, 'LICENSE'))),
    text(materials.notices, await readFile(join(staging, materials.notices))),
    text(materials.sbom, await readFile(join(staging, materials.sbom))),
  ];
  const program = { path: fileOf(platform), content: executable, mode: 0o755 };
  if (platform.startsWith('windows')) return [program, ...licences];
  return [program, text('kubectl_complete-ratchet', completionScript, 0o755), ...licences];
}
