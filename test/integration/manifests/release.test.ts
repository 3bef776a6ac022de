import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { makeRelease } from '../../../functions/release.ts';
import { ownPlatform } from '../../../functions/shipping/nodes.ts';
import { version } from '../../../manifests/release.ts';
import { asOf } from '../../e2e/support/runbooks/typing.ts';
import { follow } from '../../e2e/support/tutorial.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { startApiServer } from './api-server.ts';

const { kubectl } = (await provisionBinaries()).kubernetes;
const own = ownPlatform();
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());

const digest = `sha256:${'ab'.repeat(32)}`;
const image = `registry.example.com/mirror/etcd-ratchet@${digest}`;
const url = 'https://releases.example.com/v0';
const scratch = await mkdtemp(join(tmpdir(), 'release-test-'));
after(() => rm(scratch, { recursive: true }));
const outdir = join(scratch, 'release');

let files: readonly string[] = [];
before(async () => {
  files = await makeRelease({ outdir, image, url, kubectl, platforms: [own] });
});

const read = (file: string) => readFile(join(outdir, file), 'utf8');

test('a release has every file that people install, check or read, and nothing else', async () => {
  const wanted = [
    ...['RELEASE-NOTES.md', 'SHA256SUMS', 'THIRD-PARTY-NOTICES.txt', 'crds.yaml', 'etcd-ratchet-namespaced.yaml'],
    ...[`etcd-ratchet-${version}.tgz`, 'etcd-ratchet.yaml', `kubectl-ratchet-${version}.tgz`],
    ...[`kubectl-ratchet-${version}-${own}.tar.gz`, 'ratchet.yaml', 'sbom.cdx.json'],
  ];
  assert.deepEqual([...files].toSorted(), wanted.toSorted());
  assert.deepEqual((await readdir(outdir)).toSorted(), wanted.toSorted());
});

test('the sums are those of the files, as sha256sum sees them', async () => {
  const { stdout } = await promisify(execFile)('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: outdir });
  assert.equal(stdout.trim().split('\n').length, files.length - 1);
});

for (const file of ['etcd-ratchet.yaml', 'etcd-ratchet-namespaced.yaml']) {
  test(`${file} names our image by its digest, everywhere`, async () => {
    const text = await read(file);
    const named = [...text.matchAll(/image: (\S*etcd-ratchet\S*)/g)].map(([, name]) => name);
    assert.ok(named.length > 0);
    for (const name of named) assert.equal(name, image);
    assert.doesNotMatch(text, /ghcr\.io\/etcd-ratchet\/etcd-ratchet:/);
  });
}

test('an API server takes the one file, also a second time', async () => {
  for (const time of ['first', 'second']) {
    await api.kubectl(['apply', '--server-side', '-f', join(outdir, 'crds.yaml')]);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
    const said = await api.kubectl(['apply', '--server-side', '-f', join(outdir, 'etcd-ratchet.yaml')]);
    assert.match(said, /cronjob\.batch\/etcd-ratchet serverside-applied/, time);
  }
  const [template] = parseAllDocuments(
    await api.kubectl(['-n', 'etcd-ratchet', 'get', 'cronjob', 'etcd-ratchet', '-o', 'yaml']),
  );
  assert.match(JSON.stringify(template?.toJS()), new RegExp(digest));
});

test('the commands that the pages of releases show apply that one file', async () => {
  const blocksAt = typedIn('integration/manifests/release');
  const blocks = ['docs/releases/README.md#update-an-installation', 'docs/releases/v0.1.0.md#install'].flatMap(
    blocksAt,
  );
  const published = 'https://github.com/etcd-ratchet/etcd-ratchet/releases/download/v0.1.0';
  assert.ok(blocks.every(({ text }) => text.includes(`${published}/etcd-ratchet.yaml`)));
  const kubeconfig = join(scratch, 'kubeconfig');
  await writeFile(kubeconfig, await api.kubectl(['config', 'view', '--raw', '--flatten']), { mode: 0o600 });
  const env = { PATH: `${scratch}:/usr/bin:/bin`, HOME: scratch, KUBECONFIG: kubeconfig };
  await symlink(kubectl, join(scratch, 'kubectl'));
  // No network here: what is published is where the release was made.
  await follow(asOf({ [published]: outdir }, blocks), { cwd: scratch, env });
});

test('the manifest for krew names the archive where the release will be', async () => {
  const { spec } = parse(await read('ratchet.yaml')) as { spec: { platforms: { uri: string }[] } };
  assert.deepEqual(
    spec.platforms.map(({ uri }) => uri),
    [`${url}/kubectl-ratchet-${version}-${own}.tar.gz`],
  );
});

test('an image that could be moved is refused before anything is written', async () => {
  for (const wrong of ['ghcr.io/x/y:v1', 'x@sha256:12', '', `x@${digest} --flag`, `x\n@${digest}`]) {
    const other = join(scratch, 'refused');
    await assert.rejects(makeRelease({ outdir: other, image: wrong, url, kubectl }), /give what was pushed, as NAME@/);
    await assert.rejects(readdir(other), /ENOENT/);
  }
});
