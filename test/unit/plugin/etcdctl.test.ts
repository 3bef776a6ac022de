import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { type PodPort, Refusal } from '../../../functions/plugin/command.ts';
import { kubectlOf } from '../../../functions/plugin/kubectl.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { noKubectl, saidOn } from '../../support/plugin/said.ts';

const directory = mkdtempSync(join(tmpdir(), 'ratchet-etcdctl-'));
const { PATH = '' } = process.env;
after(() => rmSync(directory, { recursive: true }));
const temporary = join(directory, 'temporary');
mkdirSync(temporary);
process.env.TMPDIR = temporary;
beforeEach(() => {
  process.env.PATH = [directory, PATH].join(delimiter);
});
afterEach(() => assert.deepEqual(readdirSync(temporary), [], 'no key is left'));

/** A program that says what it was given. */
function programCalled(name: string, script: string): void {
  writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, name), 0o755);
}

const seen = join(directory, 'seen');
const tells = `{ echo "args $*"; echo "$ETCDCTL_ENDPOINTS"; echo "$ETCDCTL_CACERT"; cat "$ETCDCTL_KEY"; stat -c %a "$ETCDCTL_KEY" "$(dirname "$ETCDCTL_KEY")"; } > ${seen}`;

function world(tls?: object): FakeKube {
  const kube = createFakeKube();
  const secret = { 'ca.crt': 'the CA', 'tls.crt': 'the certificate', 'tls.key': 'the key\n' };
  const data = Object.fromEntries(Object.entries(secret).map(([file, pem]) => [file, btoa(pem)]));
  kube.seed(resources.clusters, {
    metadata: { namespace: 'payments', name: 'orders' },
    ...{ spec: { replicas: 1, version: '3.6.16', storage: { size: '1Gi' }, ...(tls && { tls }) } },
  });
  kube.seed(resources.secrets, { metadata: { namespace: 'payments', name: 'orders-client-tls' }, ...{ data } });
  seedPod(kube, 'orders-0');
  return kube;
}

function seedPod(kube: FakeKube, member: string): void {
  const labels = {
    'app.kubernetes.io/name': 'etcd',
    'etcd.ratchet.dev/cluster': 'orders',
    'etcd.ratchet.dev/peer': member,
  };
  const metadata = { namespace: 'payments', name: `${member}-0`, labels };
  kube.seed(resources.pods, { metadata, ...{ status: { phase: 'Running', podIP: '10.0.0.1' } } });
}

const kubectl = { ...noKubectl, forward: async () => ({ port: 40_001, [Symbol.dispose]: () => {} }) };

test('etcdctl has endpoints and keys, in files that only this person reads, removed at the end', async () => {
  programCalled('etcdctl', tells);
  const { code, out, err } = await saidOn(
    world(),
    ['etcdctl', 'orders', '--', 'get', '--prefix', '/'],
    {},
    { kubectl },
  );
  assert.equal(code, 0, err);
  const [args, endpoints, ca = '', key, mode, directoryMode] = readFileSync(seen, 'utf8').split('\n');
  assert.deepEqual([args, endpoints, key], ['args get --prefix /', 'https://127.0.0.1:40001', 'the key']);
  assert.deepEqual([mode, directoryMode], ['600', '700']);
  assert.equal(existsSync(ca), false);
  assert.doesNotMatch(out + err, /the key|the certificate/);
});

test('alone it is a shell in which etcdctl has them', async () => {
  programCalled('a-shell', tells);
  process.env.SHELL = join(directory, 'a-shell');
  const { code, err } = await saidOn(world(), ['etcdctl', 'orders'], {}, { kubectl });
  assert.equal(code, 0);
  assert.match(err, /etcdctl leads to payments\/orders in this shell; exit ends it/);
  assert.match(readFileSync(seen, 'utf8'), /^args \nhttps:\/\/127/);
});

test('a person’s Ctrl-C ends etcdctl and removes the keys', async () => {
  const stopping = new AbortController();
  const begun = join(directory, 'begun');
  const told = join(directory, 'told');
  programCalled(
    'etcdctl',
    `trap 'echo > ${told}; exit 1' HUP; echo "$ETCDCTL_KEY" > ${begun}.part && mv ${begun}.part ${begun}; for i in $(seq 250); do sleep 0.1; done`,
  );
  const running = saidOn(world(), ['etcdctl', 'orders', '--', 'watch', 'x'], { stop: stopping.signal }, { kubectl });
  const deadline = Date.now() + 20_000;
  while (!existsSync(begun) && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
  const key = readFileSync(begun, 'utf8').trim();
  assert.equal(existsSync(key), true);
  stopping.abort();
  assert.equal((await running).code, 1);
  assert.equal(existsSync(told), true, 'it ends by itself, as when a terminal closes');
  assert.equal(existsSync(key), false);
});

test('a shell that goes on when the person has stopped is ended, and its keys are removed', async () => {
  const stopping = new AbortController();
  const begun = join(directory, 'deaf');
  programCalled('a-shell', `trap '' HUP INT TERM; echo > ${begun}; for i in $(seq 250); do sleep 0.1; done`);
  process.env.SHELL = join(directory, 'a-shell');
  const running = saidOn(world(), ['etcdctl', 'orders'], { stop: stopping.signal }, { kubectl });
  const deadline = Date.now() + 20_000;
  while (!existsSync(begun) && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
  stopping.abort();
  const stopped = performance.now();
  assert.equal((await running).code, 1);
  assert.ok(performance.now() - stopped < 15_000);
});

test('settings of etcdctl that the person has for another cluster do not count', async () => {
  process.env.ETCDCTL_INSECURE_SKIP_TLS_VERIFY = 'true';
  programCalled('etcdctl', `env > ${seen}`);
  await saidOn(world(), ['etcdctl', 'orders', '--', 'x'], {}, { kubectl });
  delete process.env.ETCDCTL_INSECURE_SKIP_TLS_VERIFY;
  const names = readFileSync(seen, 'utf8').match(/^ETCDCTL_\w+/gm) ?? [];
  assert.deepEqual(
    names.toSorted(),
    ['CACERT', 'CERT', 'ENDPOINTS', 'KEY'].map((one) => `ETCDCTL_${one}`),
  );
});

test('what kubectl says of a member that is not reached is shown without its control characters', async () => {
  programCalled('etcdctl', 'exit 0');
  const kube = world();
  seedPod(kube, 'orders-1');
  const forward = async (to: PodPort) => {
    if (to.pod === 'orders-1-0') throw new Refusal('no way to it: \u001b]0;x\u0007');
    return kubectl.forward();
  };
  const { code, err } = await saidOn(kube, ['etcdctl', 'orders', '--', 'x'], {}, { kubectl: { ...kubectl, forward } });
  assert.equal(code, 0);
  assert.equal(err, 'no way to it: \\u001b]0;x\\u0007\n');
});

test('with TLS off no address leads there by itself: another etcd may have it in this network', async () => {
  programCalled('etcdctl', 'exit 0');
  for (const [tls, expected] of [
    [{ mode: 'Disabled' }, undefined],
    [{ mode: 'Managed' }, '10.0.0.1'],
  ] as const) {
    const asked: PodPort[] = [];
    const forward = async (to: PodPort) => {
      asked.push(to);
      return kubectl.forward();
    };
    await saidOn(world(tls), ['etcdctl', 'orders', '--', 'x'], {}, { kubectl: { ...kubectl, forward } });
    assert.deepEqual(
      asked.map(({ address }) => address),
      [expected],
    );
  }
});

test('each way is given back, also one that was made after another has failed', async () => {
  const kube = world();
  seedPod(kube, 'orders-1');
  const failed = Promise.withResolvers<void>();
  const made: string[] = [];
  const given: string[] = [];
  const forward = async ({ pod }: PodPort) => {
    if (pod === 'orders-0-0') {
      setImmediate(failed.resolve);
      throw new RangeError('a defect');
    }
    await failed.promise;
    made.push(pod);
    return { port: 40_002, [Symbol.dispose]: () => void given.push(pod) };
  };
  const running = saidOn(kube, ['etcdctl', 'orders', '--', 'x'], {}, { kubectl: { ...kubectl, forward } });
  await assert.rejects(running, /a defect/);
  await failed.promise;
  assert.deepEqual([made, given], [['orders-1-0'], ['orders-1-0']]);
});

test('an etcdctl that may not be run is named', async () => {
  programCalled('etcdctl', 'exit 0');
  chmodSync(join(directory, 'etcdctl'), 0o644);
  process.env.PATH = directory;
  const { code, err } = await saidOn(world(), ['etcdctl', 'orders', '--', 'x'], {}, { kubectl });
  assert.equal(code, 1);
  assert.match(err, /etcdctl can't be started: .*EACCES/);
});

test('without etcdctl the person is told how to get it, and no key is left', async () => {
  process.env.PATH = join(directory, 'nothing');
  const { code, err } = await saidOn(world(), ['etcdctl', 'orders', '--', 'member', 'list'], {}, { kubectl });
  assert.equal(code, 1);
  assert.match(err, /there is no etcdctl on PATH: install the package etcd-client/);
});

test('what etcdctl says by its code is 1 here, and a Secret that lacks is named', async () => {
  programCalled('etcdctl', 'exit 5');
  assert.equal((await saidOn(world(), ['etcdctl', 'orders', '--', 'x'], {}, { kubectl })).code, 1);
  const kube = world();
  kube.seed(resources.secrets, { metadata: { namespace: 'payments', name: 'orders-client-tls' } });
  const { code, err } = await saidOn(kube, ['etcdctl', 'orders', '--', 'x'], {}, { kubectl });
  assert.equal(code, 1);
  assert.match(err, /Secret payments\/orders-client-tls with tls\.crt, tls\.key and ca\.crt is not there yet/);
});

test('a way by kubectl port-forward lasts until it is given back, and says why there is none', async () => {
  const pid = join(directory, 'pid');
  programCalled(
    'kubectl',
    `echo $$ > ${pid}; echo "$*" > ${seen}; echo "Forwarding from 127.0.0.1:45678 -> 2379"; exec sleep 60`,
  );
  const to = { namespace: 'payments', pod: 'orders-0-0', port: 2379 };
  const signal = AbortSignal.timeout(20_000);
  const way = await kubectlOf({ context: 'prod' }).forward(to, signal);
  assert.equal(way.port, 45_678);
  const child = Number(readFileSync(pid, 'utf8'));
  way[Symbol.dispose]();
  const isThere = () => {
    try {
      return process.kill(child, 0);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
      return false;
    }
  };
  const deadline = Date.now() + 20_000;
  while (isThere() && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isThere(), false);
  assert.match(
    readFileSync(seen, 'utf8'),
    /^--context=prod -n payments port-forward pod\/orders-0-0 :2379 --address 127/,
  );
  programCalled('kubectl', 'echo "error: pods \\"orders-0-0\\" is forbidden" >&2; exit 1');
  await assert.rejects(kubectlOf({}).forward(to, signal), /port-forward: error: pods "orders-0-0" is forbidden/);
});
