import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposableSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundlePackages, packagesVariable } from '../../run/packages.ts';

const preload = pathToFileURL(resolve(import.meta.dirname, '../../run/load-packages.ts')).href;
const checkout = resolve(import.meta.dirname, '../../..');

/** What each specifier resolves to, and exports, in a process of its own. */
async function loaded(specifiers: readonly string[], execArgv: readonly string[], urls: object) {
  const program = `const found = {};
    for (const one of ${JSON.stringify(specifiers)}) found[one] = [import.meta.resolve(one), Object.keys(await import(one))];
    console.log(JSON.stringify(found));`;
  const args = [...execArgv, '--input-type=module', '-e', program];
  const env = { ...process.env, [packagesVariable]: JSON.stringify(urls) };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: checkout, env });
  return JSON.parse(stdout) as Readonly<Record<string, readonly [string, readonly string[]]>>;
}

test('a bundled package exports what the package does, and test processes load that one', async () => {
  using cache = mkdtempDisposableSync(join(tmpdir(), 'packages-'));
  const urls = await bundlePackages(cache.path);
  const specifiers = Object.keys(urls);
  assert.ok(specifiers.includes('typebox') && specifiers.includes('typebox/value'), specifiers.join());
  const [plain, bundled] = await Promise.all([
    loaded(specifiers, [], urls),
    loaded(specifiers, [`--import=${preload}`], urls),
  ]);
  for (const specifier of specifiers) {
    assert.match(plain[specifier]?.[0] ?? '', /\/node_modules\/typebox\//);
    assert.equal(bundled[specifier]?.[0], urls[specifier]);
    assert.deepEqual(bundled[specifier]?.[1].toSorted(), plain[specifier]?.[1].toSorted(), specifier);
  }
});

test('two runs that bundle at once leave one whole bundle', async () => {
  using cache = mkdtempDisposableSync(join(tmpdir(), 'packages-'));
  const [one, other] = await Promise.all([bundlePackages(cache.path), bundlePackages(cache.path)]);
  assert.deepEqual(one, other);
  assert.equal((await readdir(cache.path)).length, 1);
});
