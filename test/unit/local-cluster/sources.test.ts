import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { cachePath } from '../../support/cluster/binaries/cache.ts';
import { etcd, gitea, type Wanted } from '../../support/cluster/binaries/catalogue.ts';
import { ProvisionError } from '../../support/cluster/binaries/error.ts';
import { acceptable } from '../../support/cluster/binaries/found.ts';
import {
  chosenKubernetes,
  kubernetes,
  kubernetesVersion,
  kubernetesVersions,
  minorOf,
  oldestKubernetesMinor,
} from '../../support/cluster/binaries/kubernetes.ts';
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

test('what was made says its time, and the least that the processors need for it', async () => {
  await using machine = await bareMachine();
  // By its limit: a second of a processor, however long a busy machine takes for it.
  const burns = 'sh -c "ulimit -t 1; while :; do :; done" || true';
  await machine.script('bin/go', fakeGo(machine, burns));
  const lines: string[] = [];
  const progress = showProgress({ write: (line) => lines.push(line) });
  await provide([wanted], { environment: machine.environment, downloads: false, progress });
  const told = /^made in 0:\d\d, with (\d+) s of processor time: \d+ processors need at least 0:0\d\n$/;
  assert.ok(Number(told.exec(lines.at(-1) ?? '')?.[1]) >= 1, lines.at(-1));
  lines.length = 0;
  await provide([wanted], { environment: machine.environment, downloads: false, progress });
  assert.deepEqual(lines, [], 'nothing where all is there');
});

test('what one module has with the same flags is built by one command, and only what is missing', async () => {
  await using machine = await bareMachine();
  await machine.script('bin/go', fakeGo(machine));
  const options = { environment: machine.environment, downloads: false, progress: silent };
  const builds = async () => (await readFile(join(machine.directory, 'builds'), 'utf8')).trim().split('\n').length;
  const both = [wanted, etcd('etcdutl', '3.6.16')] as const;
  await provide([both[0]], options);
  const more = [...both, etcd('etcdctl', '3.6.16'), etcd('etcd', '3.7.3'), etcd('etcdutl', '3.7.3')];
  const paths = await provide(more, options);
  assert.equal(await builds(), 3);
  for (const one of more) assert.equal(paths.get(one), cachePath(machine.cache, one));
  assert.deepEqual(
    (await readdir(machine.cache)).toSorted(),
    [...more.map((one) => cachePath('', one)), 'locks'].toSorted(),
  );
});

test('where nothing may be built, a missing binary is refused at once, and others are found', async () => {
  await using machine = await bareMachine();
  await machine.script('bin/go', fakeGo(machine));
  const options = { environment: machine.environment, downloads: false, progress: silent };
  await assert.rejects(provide([gitea], { ...options, builds: false }), {
    name: 'ProvisionError',
    message: 'gitea 1.26.0 is not built yet: npm run playground builds it',
  });
  await assert.rejects(readdir(machine.cache), /ENOENT/);
  await provide([gitea], options);
  assert.equal((await provide([gitea], { ...options, builds: false })).get(gitea), cachePath(machine.cache, gitea));
});

for (const [version, fits] of [
  ['1.36.3', true],
  ['1.33.0', true],
  ['1.40.1', true],
  ['1.32.9', false],
  ['2.0.0', false],
] as const) {
  test(`a Kubernetes ${version} is ${fits ? 'new enough' : 'not taken'}`, () => {
    assert.equal(acceptable(kubernetes('kube-apiserver', chosenKubernetes({})), version), fits);
  });
}

test('a minor that is asked for is taken in each patch, and no other minor is', () => {
  const chosen = chosenKubernetes({ RATCHET_KUBERNETES: '1.33' });
  const taken = ['1.33.13', '1.33.0', '1.34.4', '1.36.3', '1.32.9', '2.33.0'].filter((version) =>
    acceptable(kubernetes('kube-apiserver', chosen), version),
  );
  assert.deepEqual(taken, ['1.33.13', '1.33.0']);
});

test('a minor that is asked for is built although a newer one lies on PATH', async () => {
  await using machine = await bareMachine();
  const wanted = kubernetes('kubectl', chosenKubernetes({ RATCHET_KUBERNETES: '1.33' }));
  await machine.script('bin/go', fakeGo(machine));
  await machine.script('bin/kubectl', 'echo "Client Version: v1.36.3"');
  assert.equal(await source(machine, wanted), 'cache');
  await machine.script('bin/kubectl', 'echo "Client Version: v1.33.2"');
  assert.equal(await source(machine, wanted), 'bin');
});

for (const asked of ['1.30', '1.33.13', '1.3', ' 1.33', '1', 'v1.33', '__proto__', '১.৩৩', 'x'.repeat(100_000)]) {
  test(`RATCHET_KUBERNETES=${asked.slice(0, 20)} is refused, and the refusal names what there is`, () => {
    assert.throws(
      () => chosenKubernetes({ RATCHET_KUBERNETES: asked }),
      (error) =>
        error instanceof ProvisionError &&
        error.message.length < 300 &&
        /^RATCHET_KUBERNETES is ".*", which is not .*: set it to one of 1\.37, 1\.36, 1\.35, 1\.34, 1\.33, or unset it for 1\.36$/.test(
          error.message,
        ),
    );
  });
}

test('without RATCHET_KUBERNETES, or with an empty one, it is the minor that all tests run with', () => {
  for (const environment of [{}, { RATCHET_KUBERNETES: '' }]) {
    assert.deepEqual(chosenKubernetes(environment), { version: kubernetesVersion, asked: false });
  }
});

test('each Kubernetes and its libraries are pinned at one version by the module of its minor', async () => {
  for (const version of kubernetesVersions) {
    const { module } = kubernetes('kubectl', { version, asked: false });
    const pins = await readFile(
      resolve(import.meta.dirname, '../../support/cluster/binaries', module, 'go.mod'),
      'utf8',
    );
    assert.equal(/k8s\.io\/kubernetes v(\S+)/.exec(pins)?.[1], version);
    const replaced = [...pins.matchAll(/^\tk8s\.io\/\S+ => \S+ v0\.(\S+)$/gm)].map((match) => `1.${match[1]}`);
    assert.ok(replaced.length > 20, module);
    assert.deepEqual(new Set(replaced), new Set([version]), module);
  }
});

test('an older control plane is taken as a whole or not at all', async () => {
  await using machine = await bareMachine();
  const parts = (['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const).map((name) =>
    kubernetes(name, chosenKubernetes({})),
  );
  await machine.script('bin/go', fakeGo(machine));
  const options = { environment: machine.environment, downloads: false, progress: silent };

  for (const { name } of parts.slice(0, 2)) await machine.script(`bin/${name}`, 'echo "Kubernetes v1.34.1"');
  const mixed = await provide(parts, options);
  for (const part of parts) assert.equal(mixed.get(part), cachePath(machine.cache, part));

  await machine.script('bin/kube-scheduler', 'echo "Kubernetes v1.34.1"');
  const whole = await provide(parts, options);
  for (const part of parts) assert.equal(whole.get(part), join(machine.directory, 'bin', part.name));
});

test('the CI has a run with each minor beside the newest', async () => {
  const workflow = parse(await readFile(resolve(import.meta.dirname, '../../../.github/workflows/ci.yml'), 'utf8')) as {
    readonly jobs: Readonly<Record<string, { readonly strategy?: { readonly matrix: { minor: string[] } } }>>;
  };
  const others = kubernetesVersions.map(minorOf).filter((minor) => minor !== minorOf(kubernetesVersion));
  assert.deepEqual(workflow.jobs['other-kubernetes']?.strategy?.matrix.minor, others);
});

test('the oldest minor that is supported is one that tests can run with', () => {
  assert.ok(kubernetesVersions.some((version) => minorOf(version) === `1.${oldestKubernetesMinor}`));
});
