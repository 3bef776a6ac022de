import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { gitEnvironment } from '../../support/git/git.ts';
import { openPgpKey } from '../../support/git/openpgp-signing.ts';
import { startGitServer } from '../../support/git/server.ts';
import { signerWith } from '../../support/git/ssh-signing.ts';
import { clusterYaml } from '../fleet/scene.ts';
import { install, startApiServer } from './api-server.ts';
import { kubectlRatchet } from './kubectl-ratchet.ts';
import { passOfFleet } from './pass-of-fleet.ts';

/** The commands of docs/how-to/signed-commits.md, with etcd-ratchet's own account and a person who signs with git. */

const page = 'docs/how-to/signed-commits.md';
const blocksAt = typedIn('integration/manifests/signed-commits-page');
const api = await startApiServer();
const server = await startGitServer();
const repository = await server.createRepository('etcd');
const home = await mkdtemp(join(tmpdir(), 'etcd-ratchet-signed-'));
const adminConfig = join(home, 'kubeconfig');
const { privateKey } = generateKeyPairSync('ed25519');
const ada = signerWith('ssh-ed25519', privateKey);
after(async () => {
  await server.stop();
  await api[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});
await api.kubectl(['apply', '-k', install]);
await api.kubectl(['create', 'namespace', 'payments']);
const binding = ['create', 'rolebinding', 'etcd-ratchet-fleet', '--clusterrole=etcd-ratchet-fleet'];
await api.kubectl(['-n', 'payments', ...binding, '--serviceaccount=etcd-ratchet:fleet']);
const kube = await api.kubeOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' });

const keygen = join(home, 'ssh-keygen');
await writeFile(join(home, 'key'), privateKey.export({ format: 'pem', type: 'pkcs8' }));
await writeFile(
  keygen,
  `#!/bin/sh\nexec ${process.execPath} ${resolve(import.meta.dirname, '../../support/git/ssh-keygen.ts')} "$@"\n`,
);
await chmod(keygen, 0o755);
const clone = join(home, 'clone');

/** As a person, in a checkout whose git signs by SSH. */
async function bash(script: string, directory = clone): Promise<string> {
  const env = { ...gitEnvironment(), GIT_MERGE_AUTOEDIT: 'no' };
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: directory, env });
  return stdout.trim();
}

async function kubectl(line: string): Promise<string> {
  const words = line.match(/'[^']*'|\S+/g) ?? [];
  const args = words.slice(1).map((word) => word.replace(/^'|'$/g, ''));
  return api.kubectl(args.map((arg) => arg.replace('--from-file=', `--from-file=${home}/`)));
}

async function type(place: string): Promise<readonly string[]> {
  const said: string[] = [];
  for (const block of blocksAt(place)) for (const line of block.text.trim().split('\n')) said.push(await kubectl(line));
  assert.ok(said.length > 0);
  return said;
}

const pass = () => passOfFleet(kube);

test('a fleet whose commits are signed says by whom, with the commands of the page', async () => {
  await repository.commit({ 'orders.yaml': clusterYaml('orders') });
  await bash(`git clone -q ${repository.url} clone`, home);
  await bash(
    `git config gpg.format ssh && git config gpg.ssh.program ${keygen} && git config user.signingKey ${home}/key`,
  );
  await bash("git commit -q --amend -S -m 'Orders' && git push -q --force origin HEAD:main");
  await writeFile(join(home, 'allowed_signers'), `${ada.line('ada@example.com', 'namespaces="git"')}\n`);
  await writeFile(join(home, 'ada.asc'), (await openPgpKey()).publicKey);
  await api.kubectl(['create', '-f', '-'], {
    stdin: JSON.stringify({
      apiVersion: 'etcd.ratchet.dev/v1alpha1',
      kind: 'EtcdFleet',
      metadata: { name: 'production', namespace: 'etcd-ratchet' },
      spec: { git: { url: repository.url, ref: 'main' } },
    }),
  });
  await type(page);
  const { status } = await pass();
  assert.equal(conditionOf(status, 'SourceReady')?.status, 'True', conditionOf(status, 'SourceReady')?.message);
  const [line = '', why = ''] = (blocksAt(`${page}#who-signed:1`)[0]?.text ?? '').trim().split('\n');
  assert.match(await kubectl(line), /"signedBy":"ada@example\.com"/);
  await writeFile(adminConfig, await api.kubeconfigOf({ namespace: 'etcd-ratchet', name: 'etcd-ratchet' }));
  await using plugin = await kubectlRatchet(adminConfig);
  const { stdout } = await plugin.ratchet(...why.split(' ').slice(2), '-n', 'payments');
  assert.match(stdout, /fleet etcd-ratchet\/production: main@sha1:\S+ was verified, signed by ada@example\.com/);
});

test('a push without a signature is refused until a signed merge vouches for it', async () => {
  const [, revision = '', last = ''] = await type(`${page}#begin-anew`);
  assert.match(last, /patched/);
  await bash(
    "git commit -q --allow-empty -m 'Unsigned' && git commit -q -S --allow-empty -m 'Signed' && git push -q origin HEAD:main",
  );
  const refused = conditionOf((await pass()).status, 'Stalled');
  assert.equal(refused?.reason, 'CommitNotSigned', refused?.message);
  const verified = revision.slice(revision.lastIndexOf(':') + 1);
  for (const block of blocksAt(`${page}#who-signed:2`)) await bash(block.text.replace('VERIFIED', verified));
  const { status } = await pass();
  assert.equal(status?.verification?.revision, `main@sha1:${await bash('git rev-parse HEAD')}`);
  assert.equal(conditionOf(status, 'Stalled'), undefined);
});
