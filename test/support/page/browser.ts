import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { type Browser, launch } from 'puppeteer-core';
import { cacheDirectory } from '../cluster/binaries/cache.ts';

/**
 * A headless Chromium out of an npm package, with libraries and a font, so that it starts wherever the rest of the
 * tests do. PUPPETEER_EXECUTABLE_PATH names another one: the package has none for machines that are not x64.
 */
export async function openBrowser(): Promise<Browser> {
  const { PUPPETEER_EXECUTABLE_PATH: given } = process.env;
  const common = { headless: 'shell', timeout: 30_000, protocolTimeout: 30_000 } as const;
  if (given) return launch({ ...common, executablePath: given, args: ['--no-sandbox'] });
  if (process.arch !== 'x64') throw new Error('set PUPPETEER_EXECUTABLE_PATH: there is no Chromium for this machine');
  const [directory, { default: chromium }] = await Promise.all([unpacked(), import('@sparticuz/chromium')]);
  // Pages must be looked at as everybody's browser would: nothing of web security is off.
  const args = chromium.args.filter((arg) => !/disable-web-security|allow-running-insecure-content/.test(arg));
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(directory, 'al2023/lib'),
    FONTCONFIG_FILE: join(directory, 'fonts.conf'),
  };
  return launch({ ...common, executablePath: join(directory, 'chromium'), args, env });
}

/**
 * In our cache, once for every version: it takes seconds, and 250 MB. It gets there by rename, so that of two runs
 * neither starts what the other has half written. The package's own unpacking gives files to others, which root may not
 * do inside the tests' sandbox.
 */
async function unpacked(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const root = join(dirname(entry), '..');
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const cache = cacheDirectory(process.env);
  const directory = join(cache, `chromium-${version}`);
  const isThere = await stat(directory).then(
    () => true,
    () => false,
  );
  if (isThere) return directory;
  await mkdir(cache, { recursive: true });
  await removeLeftovers(cache);
  const partial = await mkdtemp(`${directory}.partial-`);
  try {
    const bin = (name: string) => join(root, 'bin', `${name}.br`);
    await Promise.all([
      pipeline(
        createReadStream(bin('chromium')),
        createBrotliDecompress(),
        createWriteStream(join(partial, 'chromium'), { mode: 0o755 }),
      ),
      untar(bin('swiftshader.tar'), partial),
      untar(bin('al2023.tar'), join(partial, 'al2023')),
      untar(bin('fonts.tar'), join(partial, 'fonts')),
    ]);
    await writeFile(join(partial, 'fonts.conf'), fontsIn(join(directory, 'fonts')));
    // Somebody else may have been faster: then theirs is as good.
    await rename(partial, directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return directory;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Of runs that were killed while they unpacked: nobody takes an hour. */
async function removeLeftovers(cache: string): Promise<void> {
  const partial = (await readdir(cache)).filter((name) => /^chromium-.*\.partial-/.test(name));
  for (const path of partial.map((name) => join(cache, name))) {
    // Somebody else may tidy up as well.
    const made = await stat(path).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > 3_600_000) await rm(path, { recursive: true, force: true });
  }
}

/** @param archive a tar, compressed by Brotli */
export async function untar(archive: string, into: string): Promise<void> {
  await mkdir(into, { recursive: true });
  // To its very end: GNU tar closes its input at the first two empty blocks, and what is still written then fails.
  const args = ['-x', '--ignore-zeros', '--no-same-owner', '-C', into];
  const tar = spawn('tar', args, { stdio: ['pipe', 'ignore', 'inherit'] });
  const exited = once(tar, 'exit') as Promise<[number | null]>;
  await pipeline(createReadStream(archive), createBrotliDecompress(), tar.stdin);
  const [code] = await exited;
  if (code !== 0) throw new Error(`tar could not unpack ${archive}: exit code ${code}`);
}

function fontsIn(directory: string): string {
  return `<?xml version="1.0"?><fontconfig><dir>${directory}</dir><dir>/usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>\n`;
}
