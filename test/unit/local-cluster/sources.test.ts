import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { cachePath } from '../../support/cluster/binaries/cache.ts';
import { etcd, kubernetes, type Wanted } from '../../support/cluster/binaries/catalogue.ts';
import { acceptable } from '../../support/cluster/binaries/found.ts';
import { type Progress, showProgress } from '../../support/cluster/binaries/progress.ts';
import { provide } from '../../support/cluster/binaries/provide.ts';
import { bareMachine, fakeGo, type Machine, printsEtcdVersion } from './fake-tools.ts';

const wanted = etcd('etcd', '3.6.16');
const silent: Progress = showProgress({ write: () => true });

async function source(machine: Machine, one: Wanted = wanted): Promise<string> {
  const options = { environment: machine.environment, downloads: false, progress: silent };
  const path = (await provide([one], options)).get(one) ?? '';
  return path.slice(machine.directory.length + 1).split('/')[0] ?? '';
}

test('the order of the sources: variable, PATH, KUBEBUILDER_ASSETS, cache, build', async () => {
  await using machine = await bareMachine();
  await machine.script('bin/go', fakeGo(machine));
  assert.equal(await source(machine), 'cache', 'built into the cache');
  assert.equal(await source(machine), 'cache', 'found there');
  assert.equal((await readFile(join(machine.directory, 'builds'), 'utf8')).trim().split('\n').length, 1);

  await machine.script('assets/etcd', printsEtcdVersion('3.6.16'));
  assert.equal(await source(machine), 'assets');
  await machine.script('bin/etcd', printsEtcdVersion('3.6.16'));
  assert.equal(await source(machine), 'bin');
  machine.environment.RATCHET_ETCD_3_6 = await machine.script('mine/etcd', printsEtcdVersion('3.6.16'));
  assert.equal(await source(machine), 'mine');
});

for (const [what, body] of [
  ['of another version', printsEtcdVersion('3.6.15')],
  ['that fails', 'exit 1'],
  ['that says nothing', ''],
] as const) {
  test(`an etcd on PATH ${what} is passed over`, async () => {
    await using machine = await bareMachine();
    await machine.script('bin/etcd', body);
    await machine.script('bin/go', fakeGo(machine));
    assert.equal(await source(machine), 'cache');
  });

  test(`an etcd ${what} that a variable names is an error that says so`, async () => {
    await using machine = await bareMachine();
    machine.environment.RATCHET_ETCD_3_6 = await machine.script('mine/etcd', body);
    await assert.rejects(
      source(machine),
      /RATCHET_ETCD_3_6 names .*mine\/etcd.*point it at etcd 3\.6\.16, or unset it/,
    );
  });
}

test('without Go, the error says what to install or set', async () => {
  await using machine = await bareMachine();
  await assert.rejects(source(machine), /etcd 3\.6\.16 must be built.*install Go .* or set RATCHET_ETCD_3_6/);
});

test('a build that fails shows the last words of the compiler and leaves nothing in the cache', async () => {
  await using machine = await bareMachine();
  await machine.script('bin/go', 'echo "server.go:1:1: no such thing" >&2; exit 1');
  await assert.rejects(source(machine), /building etcd 3\.6\.16 failed \(1\):\nserver\.go:1:1: no such thing/);
  assert.deepEqual(await readdir(machine.cache), ['locks']);
});

for (const [version, fits] of [
  ['1.36.3', true],
  ['1.33.0', true],
  ['1.40.1', true],
  ['1.32.9', false],
  ['2.0.0', false],
] as const) {
  test(`a Kubernetes ${version} is ${fits ? 'new enough' : 'not taken'}`, () => {
    assert.equal(acceptable(kubernetes('kube-apiserver'), version), fits);
  });
}

test('an older control plane is taken as a whole or not at all', async () => {
  await using machine = await bareMachine();
  const parts = (['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const).map(kubernetes);
  await machine.script('bin/go', fakeGo(machine));
  const options = { environment: machine.environment, downloads: false, progress: silent };

  for (const { name } of parts.slice(0, 2)) await machine.script(`bin/${name}`, 'echo "Kubernetes v1.34.1"');
  const mixed = await provide(parts, options);
  for (const part of parts) assert.equal(mixed.get(part), cachePath(machine.cache, part));

  await machine.script('bin/kube-scheduler', 'echo "Kubernetes v1.34.1"');
  const whole = await provide(parts, options);
  for (const part of parts) assert.equal(whole.get(part), join(machine.directory, 'bin', part.name));
});
