/** What `npm run package` makes, as krew and npm install it, and its completion as kubectl asks for it. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { packagePlugin } from '../../../functions/package-plugin.ts';
import { version } from '../../../manifests/release.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { follow } from '../../e2e/support/tutorial.ts';
import { provisionBinaries } from '../../support/cluster/binaries.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { shareApiServer } from '../shared-api-server.ts';

const run = promisify(execFile);
const api = await shareApiServer();
const directory = await mkdtemp(join(tmpdir(), 'kubectl-ratchet-package-'));
after(async () => {
  await api[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});
const { kubernetes } = await provisionBinaries();
const { archive, manifest = assert.fail() } = await packagePlugin(directory, 'https://releases.example/v1/');

/** With these commands on PATH, beside kubectl and Node. */
function kubectlWith(bin: string) {
  const path = [bin, dirname(kubernetes.kubectl), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const env = { PATH: path, HOME: directory, KUBECONFIG: api.kubeconfigPath };
  return async (...args: readonly string[]) => (await run(kubernetes.kubectl, args, { env })).stdout;
}

/** What krew does: it checks the sum, unpacks, moves the files, and links one under the plugin's name. */
async function installByKrew(): Promise<string> {
  const { spec, metadata } = parse(await readFile(manifest, 'utf8'));
  const [{ uri, sha256, bin, files, selector }] = spec.platforms;
  assert.equal(uri, `https://releases.example/v1/kubectl-ratchet-${version}.tgz`);
  assert.equal(
    createHash('sha256')
      .update(await readFile(archive))
      .digest('hex'),
    sha256,
  );
  assert.equal(spec.version, `v${version}`);
  assert.ok(spec.shortDescription.length <= 50);
  assert.deepEqual(selector.matchExpressions[0].values, ['darwin', 'linux']);
  const store = join(directory, 'store');
  await mkdir(store);
  await run('tar', ['-xzf', archive, '-C', store]);
  const [{ from, to }] = files;
  assert.deepEqual([from, to], ['package/*', '.']);
  const links = join(directory, 'krew');
  await mkdir(links);
  await symlink(join(store, 'package', bin), join(links, `kubectl-${metadata.name}`));
  return links;
}

test('as krew installs it, kubectl runs it; it needs nothing of the checkout', async () => {
  const links = await installByKrew();
  const kubectl = kubectlWith(links);
  assert.equal((await kubectl('ratchet', '--version')).trim(), version);
  assert.match(await kubectl('ratchet', 'status', '-o', 'json'), /"clusters": \[\]/);
  const path = [links, dirname(kubernetes.kubectl), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const completion = typedIn('integration/manifests/plugin-package')('docs/how-to/kubectl-plugin.md#install-it:3');
  await follow(completion, { cwd: directory, env: { PATH: path, HOME: directory, KUBECONFIG: api.kubeconfigPath } });
  const script = await kubectl('ratchet', 'completion');
  assert.equal(await readFile(join(directory, '.local/bin/kubectl_complete-ratchet'), 'utf8'), script);
  assert.equal(script, await readFile(join(directory, 'store/package/kubectl_complete-ratchet'), 'utf8'));
  for (const file of ['LICENSE', 'THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'])
    await access(join(directory, 'store/package', file));
});

test('as npm installs it, without a network, kubectl completes commands, options and names', async () => {
  const prefix = join(directory, 'npm');
  const npm = ['install', '--global', `--prefix=${prefix}`, '--offline', '--no-audit', '--no-fund', archive];
  await run('npm', npm, { env: { ...process.env, HOME: directory } });
  const kubectl = kubectlWith(join(prefix, 'bin'));
  for (const name of ['orders', 'orbits', 'carts'])
    await api.kube.create(resources.clusters, {
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdCluster',
      metadata: { namespace: api.namespace, name },
      spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' } },
    });
  assert.match(await kubectl('__complete', 'ratchet', 'wh'), /^why\t.*\n:4\n/);
  assert.match(await kubectl('__complete', 'ratchet', 'why', 'or'), /^orbits\norders\n:4\n/);
  assert.match(await kubectl('__complete', 'ratchet', 'status', '-o', ''), /^text\njson\nyaml\n:4\n/);
  assert.match(await kubectl('__complete', 'ratchet', '-n', 'kube-sys'), /^kube-system\n:4\n/);
  assert.match(await kubectl('__complete', 'ratchet', 'plan', 'orders', '--f'), /^--file\t/);
  assert.match(await kubectl('__complete', 'ratchet', 'plan', 'orders', '-f', ''), /^:0\n/);
});
