/** A whole release, made twice: what a maintainer builds anew has the digests that were published. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { makeRelease } from '../../../functions/release.ts';
import { recipeIn } from '../../../functions/shipping/image.ts';
import { indexIn } from '../../../functions/shipping/layout.ts';
import { changedPages } from '../../../functions/shipping/sign-macho.ts';
import { version } from '../../../manifests/release.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { commandsAt } from '../../support/docs/places.ts';
import { baseLayout } from '../../support/image/base.ts';
import { checkout } from '../../unit/docs/pages.ts';

const run = promisify(execFile);
const { kubectl } = (await provisionBinaries()).kubernetes;
const scratch = await mkdtemp(join(tmpdir(), 'release-twice-'));
after(() => rm(scratch, { recursive: true }));
const [first, second, base] = ['dist/one', 'dist/other', 'base'].map((name) => join(scratch, name)) as [
  string,
  string,
  string,
];
const image = 'registry.example.com:5000/mirror/etcd-ratchet';
const url = 'https://releases.example.com/v0';
const five = ['darwin-amd64', 'darwin-arm64', 'linux-amd64', 'linux-arm64', 'windows-amd64'];

before(async () => {
  const recipe = { ...(await recipeIn(checkout)), base: await baseLayout(base) };
  for (const [outdir, umask] of [
    [first, 0o022],
    [second, 0o077],
  ] as const) {
    const before = process.umask(umask);
    await makeRelease({ outdir, image, base, recipe, url, kubectl }).finally(() => process.umask(before));
  }
});

const read = (file: string) => readFile(join(first, file), 'utf8');

test('a release that two people make has the same digest of each of its files', async () => {
  const sums = await read('SHA256SUMS');
  assert.deepEqual(
    sums
      .trim()
      .split('\n')
      .map((line) => line.split('  ')[1]),
    [
      ...['RELEASE-NOTES.md', 'THIRD-PARTY-NOTICES.txt', 'crds.yaml', `etcd-ratchet-${version}.tgz`],
      ...[`etcd-ratchet-image-${version}.tar`, 'etcd-ratchet-namespaced.yaml', 'etcd-ratchet.yaml'],
      ...five.map((platform) => `kubectl-ratchet-${version}-${platform}.tar.gz`),
      ...[`kubectl-ratchet-${version}.tgz`, 'ratchet.yaml', 'sbom.cdx.json'],
    ],
  );
  assert.equal(await readFile(join(second, 'SHA256SUMS'), 'utf8'), sums);
  const [{ text } = assert.fail('no command')] = commandsAt('docs/releases/README.md#make-a-release:1');
  const compare = text.split('\n').find((line) => line.startsWith('diff ')) ?? assert.fail(text);
  assert.equal((await run('bash', ['-c', compare], { cwd: scratch })).stdout, '');
  for (const outdir of [first, second]) await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: outdir });
});

test('the manifests name the image that is in the release, by its digest', async () => {
  const layout = await mkdtemp(join(scratch, 'layout-'));
  await run('tar', ['-xf', join(first, `etcd-ratchet-image-${version}.tar`), '-C', layout]);
  const { digest } = await indexIn(layout);
  for (const file of ['etcd-ratchet.yaml', 'etcd-ratchet-namespaced.yaml']) {
    const named = [...(await read(file)).matchAll(/image: (\S*etcd-ratchet\S*)/g)].map(([, name]) => name);
    assert.ok(named.length > 0);
    for (const name of named) assert.equal(name, `${image}@${digest}`);
  }
});

test('each archive of the plugin has a program of its platform, and krew knows it', async () => {
  const { spec } = parse(await read('ratchet.yaml'));
  const starts = { linux: '7f454c46', darwin: 'cffaedfe', windows: '4d5a' } as Readonly<Record<string, string>>;
  for (const platform of five) {
    const [os = '', arch] = platform.split('-');
    const row = spec.platforms.find(
      ({ selector: { matchLabels } }: { selector: { matchLabels: { os: string; arch: string } } }) =>
        matchLabels.os === os && matchLabels.arch === arch,
    );
    assert.equal(row.uri, `${url}/kubectl-ratchet-${version}-${platform}.tar.gz`);
    const directory = await mkdtemp(join(scratch, 'plugin-'));
    await run('tar', ['-xzf', join(first, `kubectl-ratchet-${version}-${platform}.tar.gz`), '-C', directory]);
    const program = await readFile(join(directory, row.bin));
    const start = starts[os] ?? assert.fail();
    assert.equal(program.subarray(0, start.length / 2).toString('hex'), start, platform);
    if (os === 'darwin') assert.deepEqual(changedPages(program), [], platform);
    await rm(directory, { recursive: true });
  }
});

test('with a base, a name with a tag or a digest is refused before anything is written', async () => {
  for (const wrong of ['', 'x:v1', `x@sha256:${'ab'.repeat(32)}`, 'x --flag']) {
    const refused = makeRelease({ outdir: join(scratch, 'refused'), image: wrong, base, url, kubectl });
    await assert.rejects(refused, /with --base give the name alone/);
  }
});
