/** `kubectl ratchet` as one file, as krew installs it where there is no Node. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { ownPlatform } from '../../../functions/shipping/nodes.ts';
import { packageSingleFiles } from '../../../functions/shipping/single-file.ts';
import { version } from '../../../manifests/release.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { shareApiServer } from '../shared-api-server.ts';

const run = promisify(execFile);
const platform = ownPlatform();
const directory = await mkdtemp(join(tmpdir(), 'single-file-'));
after(() => rm(directory, { recursive: true }));
const url = 'https://releases.example/v1/';
const [archive = assert.fail()] = await packageSingleFiles({ outdir: directory, url, only: [platform] });
const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());
const { kubernetes } = await provisionBinaries();

const links = join(directory, 'krew');
const store = join(directory, 'store');

/** With kubectl and the plugin on PATH, and nothing else: no Node, no shell. */
const path = [links, join(directory, 'kubectl')].join(delimiter);
const env = { PATH: path, HOME: directory, KUBECONFIG: api.kubeconfigPath };
const ratchet = async (...args: readonly string[]) =>
  (await run(kubernetes.kubectl, ['ratchet', ...args], { env })).stdout;

test('krew finds the archive of this platform by its sum, with everything that a person must get', async () => {
  const { spec, metadata } = parse(await readFile(join(directory, 'ratchet.yaml'), 'utf8'));
  const [{ uri, sha256, selector, files, bin }, ...others] = spec.platforms;
  assert.deepEqual(others, []);
  const [os, arch] = platform.split('-');
  assert.deepEqual(selector, { matchLabels: { os, arch } });
  assert.equal(uri, `${url}${basename(archive)}`);
  const sum = createHash('sha256').update(await readFile(archive));
  assert.equal(sha256, sum.digest('hex'));
  assert.deepEqual(files, [{ from: '*', to: '.' }]);
  assert.doesNotMatch(spec.caveats, /Node/);
  await mkdir(store);
  await run('tar', ['-xzf', archive, '-C', store]);
  const licences = ['LICENSE', 'NODE-LICENSE.txt', 'THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'];
  for (const file of licences) assert.notEqual((await readFile(join(store, file), 'utf8')).trim(), '', file);
  await mkdir(links);
  await symlink(join(store, bin), join(links, `kubectl-${metadata.name}`));
  await mkdir(join(directory, 'kubectl'));
  await symlink(kubernetes.kubectl, join(directory, 'kubectl', basename(kubernetes.kubectl)));
});

test('without a Node on PATH it says its version, helps, and completes', async () => {
  await assert.rejects(run('node', ['--version'], { env }), { code: 'ENOENT' });
  assert.equal((await ratchet('--version')).trim(), version);
  assert.match(await ratchet('--help'), /^Usage: kubectl ratchet /);
  assert.equal(await ratchet('completion'), await readFile(join(store, 'kubectl_complete-ratchet'), 'utf8'));
});

test('without a Node on PATH, status and why tell of a cluster of the API server', async () => {
  await api.kube.create(resources.clusters, {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { namespace: api.namespace, name: 'orders' },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
  });
  const { clusters } = JSON.parse(await ratchet('status', '-o', 'json'));
  assert.deepEqual(
    clusters.map(({ name }: { readonly name: string }) => name),
    ['orders'],
  );
  assert.match(await ratchet('why', 'orders'), /orders/);
});

test('its exit code is that of the plugin, and options for Node are none of its own', async () => {
  const asked = run(join(store, 'kubectl-ratchet'), ['why', 'nothing'], { env });
  await assert.rejects(asked, (error: { code?: number; stderr?: string }) => {
    assert.equal(error.code, 1, error.stderr);
    assert.match(error.stderr ?? '', /nothing/);
    return true;
  });
  const spoilt = { ...env, NODE_OPTIONS: '--require ./not-there.js' };
  const { stdout } = await run(join(store, 'kubectl-ratchet'), ['--version'], { env: spoilt, cwd: dirname(archive) });
  assert.equal(stdout.trim(), version);
});
