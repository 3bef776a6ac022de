import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type Ground, startGround } from '../demo/ground.ts';
import { madeUp } from '../demo/shape.ts';
import { environmentFile } from '../demo/stay.ts';
import { blocksOf } from '../support/docs/blocks.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import { localSettings } from '../support/network.ts';
import { checkout, read } from '../unit/docs/pages.ts';
import { inOwnSandbox } from './support/own-cluster.ts';
import { asOf, line } from './support/runbooks/typing.ts';
import { follow } from './support/tutorial.ts';

const binaries = await inOwnSandbox();
const typed = typedIn('e2e/readme');
const [transcript, table] = blocksOf('README.md', read('README.md')).filter(({ kind }) => kind === 'text');
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'readme-'));
});
after(() => rm(directory, { recursive: true, force: true }));

test('the transcript at the top is what the demo prints', { timeout: 600_000 }, async () => {
  const [{ text: command } = assert.fail('no command')] = typed('README.md#try-it');
  assert.equal(command, 'npm ci && npm run demo\n');
  // What `npm ci` installs is there.
  const limits = { timeout: 540_000, maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)('npm', ['run', 'demo'], { cwd: checkout, ...limits });
  assert.equal(madeUp(transcript?.text ?? assert.fail('no transcript'), stdout), undefined, stdout);
});

test('typed from the top, an empty directory leads to Converged, a restore and an approval', {
  timeout: 900_000,
}, async () => {
  await using ground = await startGround(binaries);
  await checkOut();
  const environment = await environmentFile(directory, binaries, { KUBECONFIG: ground.cluster.kubeconfigPath });
  // The reader has no plugin before the page installs it, where this one stood.
  await rm(join(directory, 'bin/kubectl-ratchet'));
  const npm = { npm_config_prefix: directory, npm_config_offline: 'true', npm_config_audit: 'false' };
  const settings = Object.entries(localSettings).map(([name, value]) => `--from-literal=${name}='${value}'`);
  const blocks = asOf(namesOn(ground), [
    line(`. ${environment}`),
    ...typed('README.md#install'),
    line(`kubectl -n etcd-ratchet create configmap etcd-ratchet-settings ${settings.join(' ')}`),
    line('git config --global user.name Ada && git config --global user.email ada@example.com'),
    ...typed('README.md#first-cluster'),
    table ?? assert.fail('no table'),
    ...typed('README.md#back-up-restore'),
    line(lostDisks),
    ...typed('README.md#when-it-needs-you'),
  ]);
  await follow(blocks, { cwd: directory, env: { ...process.env, HOME: directory, ...npm } });
});

/** A checkout of the reader's own, with what `npm ci` installs. */
async function checkOut(): Promise<void> {
  for (const part of ['functions', 'gitops', 'manifests', 'reconcile', 'package.json', 'package-lock.json'])
    await cp(join(checkout, part), join(directory, part), { recursive: true });
  await symlink(join(checkout, 'node_modules'), join(directory, 'node_modules'));
}

/** The reader's cluster and forge, where there is no runtime of containers, nor a terminal to be asked on. */
function namesOn({ forge }: Ground): Readonly<Record<string, string>> {
  return {
    'kind create cluster\n': '',
    'npm ci && npm run build': 'npm run build',
    'docker build -t ghcr.io/etcd-ratchet/etcd-ratchet:v0.1.0 .\n': '',
    'kind load docker-image ghcr.io/etcd-ratchet/etcd-ratchet:v0.1.0\n': '',
    'git clone https://github.com/example/etcd.git': `git clone ${forge.gitUrl.replace('http://', `http://ada:${forge.token}@`)}`,
    'https://github.com/example/etcd.git': forge.gitUrl,
    'type: GitHub': `type: Gitea, apiURL: "${forge.apiUrl}"`,
    'token=…': `token=${forge.token}`,
    'approve orders\n': 'approve orders --yes\n',
  };
}

const lostDisks = `kubectl -n payments delete pvc orders-1 orders-2 --wait=false
kubectl -n payments delete pod orders-1-0 orders-2-0 --grace-period=0 --force
for i in {1..90}; do
  kubectl ratchet -n payments why orders | grep 'asks for an approval' && break
  sleep 2
done`;
