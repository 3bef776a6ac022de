import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Browser, launch } from 'puppeteer-core';
import { cacheDirectory } from '../cluster/binaries/cache.ts';

/**
 * A headless Chromium out of an npm package, with libraries and a font, so that it starts wherever the rest of the tests do.
 * PUPPETEER_EXECUTABLE_PATH names another one: the package has none for machines that are not x64.
 */
export async function openBrowser(): Promise<Browser> {
  const { PUPPETEER_EXECUTABLE_PATH: given } = process.env;
  const common = { headless: 'shell', timeout: 30_000, protocolTimeout: 30_000 } as const;
  if (given) return launch({ ...common, executablePath: given, args: ['--no-sandbox'] });
  if (process.arch !== 'x64') throw new Error('set PUPPETEER_EXECUTABLE_PATH: there is no Chromium for this machine');
  const { directory, args } = await unpacked();
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(directory, 'al2023/lib'),
    FONTCONFIG_FILE: join(directory, 'fonts.conf'),
  };
  return launch({ ...common, executablePath: join(directory, 'chromium'), args, env });
}

/**
 * In our cache, once for every version: it takes seconds, and 250 MB. It gets there by rename, so that of two runs neither starts what the
 * other has half written.
 */
async function unpacked(): Promise<{ readonly directory: string; readonly args: string[] }> {
  const cache = cacheDirectory(process.env);
  const directory = join(cache, `chromium-${await packageVersion()}`);
  const isThere = await stat(directory).then(
    () => true,
    () => false,
  );
  if (isThere) return { directory, args: argsOf(await import('@sparticuz/chromium')) };
  await mkdir(cache, { recursive: true });
  const partial = await mkdtemp(`${directory}.partial-`);
  const before = { ...process.env };
  try {
    // By these, at its import, the package decides where to unpack, and that libraries come along.
    Object.assign(process.env, { TMPDIR: partial, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' });
    const chromium = await import('@sparticuz/chromium');
    await chromium.default.executablePath();
    // Its own one names a directory that everybody would share.
    await writeFile(join(partial, 'fonts.conf'), fontsIn(join(directory, 'fonts')));
    // Somebody else may have been faster: then theirs is as good.
    await rename(partial, directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return { directory, args: argsOf(chromium) };
  } finally {
    for (const name of ['TMPDIR', 'AWS_EXECUTION_ENV']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    await rm(partial, { recursive: true, force: true });
  }
}

function fontsIn(directory: string): string {
  return `<?xml version="1.0"?><fontconfig><dir>${directory}</dir><dir>/usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>\n`;
}

/** Pages must be looked at as everybody's browser would: nothing of web security is off. */
function argsOf({ default: { args } }: typeof import('@sparticuz/chromium')): string[] {
  return args.filter((arg) => !/disable-web-security|allow-running-insecure-content/.test(arg));
}

async function packageVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const about = JSON.parse(await readFile(join(dirname(entry), '../package.json'), 'utf8')) as { version: string };
  return about.version;
}
