import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { connect } from 'node:net';
import { test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { run } from '../../support/cluster/node/command.ts';
import { clusterForTests, forever, helpers, isReady, scriptPod } from './cluster.ts';

const cluster = await clusterForTests();
const { apply, podWhere, remove, runScript, get } = await helpers(cluster);
const resolver = new Resolver({ timeout: 2000, tries: 2 });
resolver.setServers(['10.96.0.10']);

const echo = `require('http').createServer((request, response) => response.end(process.env.HOSTNAME)).listen(8080, '0.0.0.0');`;
const labelled = (name: string, script: string, spec: object = {}, container: object = {}) => {
  const pod = scriptPod(name, script, spec, container) as { metadata: object };
  return { ...pod, metadata: { name, labels: { group: 'echo' } } };
};
const service = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { group: 'echo' }, ports: [{ name: 'web', port: 80, targetPort: 8080 }], ...spec },
});
const never = { readinessProbe: { exec: { command: ['node', '-e', 'process.exit(1)'] }, periodSeconds: 1 } };

test('two pods listen on the same port, each at its own address, and are found by name', async () => {
  await apply(
    service('peers', { clusterIP: 'None', publishNotReadyAddresses: true }),
    service('ready', { clusterIP: 'None' }),
    service('echo', {}),
    labelled('a', echo, { hostname: 'a', subdomain: 'peers' }),
    labelled('b', echo, { hostname: 'b', subdomain: 'peers' }, never),
  );
  const a = await podWhere('a', isReady);
  const b = await podWhere('b', ({ status }) => status?.podIP !== undefined);
  const ipA = a.status?.podIP ?? '';
  const ipB = b.status?.podIP ?? '';
  assert.notEqual(ipA, ipB);

  const both = await until('both addresses', async () => {
    const found = await resolver.resolve4('peers.default.svc.cluster.local');
    return found.length === 2 ? found : undefined;
  });
  assert.deepEqual(both.sort(), [ipA, ipB].sort());
  assert.deepEqual(await resolver.resolve4('b.peers.default.svc.cluster.local'), [ipB]);
  // Each Service has slices of its own, written when their controller comes to them.
  const ready = await until('the address that is Ready', () => resolver.resolve4('ready.default.svc.cluster.local'));
  assert.deepEqual(ready, [ipA]);
  const { name, port } = (await resolver.resolveSrv('_web._tcp.peers.default.svc.cluster.local'))[0] ?? {};
  assert.match(name ?? '', /^[ab]\.peers\.default\.svc\.cluster\.local$/);
  assert.equal(port, 8080);
  await assert.rejects(resolver.resolve4('nobody.peers.default.svc.cluster.local'), { code: 'ENOTFOUND' });
  await assert.rejects(resolver.resolve4('peers.default.svc'), { code: 'ENOTFOUND' });
  await assert.rejects(resolver.resolve6('peers.default.svc.cluster.local'), { code: 'ENODATA' });
});

test('a pod finds others by the short names of its search list, and reaches Services', async () => {
  const { spec } = await get<{ spec: { clusterIP: string } }>('service', 'echo');
  // The pod is Ready; that the Service knows is the endpoint controller's next word.
  await until('echo is served', async () => (await fetch(`http://${spec.clusterIP}`)).text());
  const output = await runScript(
    'client',
    `(async () => {
       const { lookup } = require('dns').promises;
       console.log((await lookup('a.peers')).address === (await lookup('a.peers.default.svc')).address);
       console.log(await (await fetch('http://echo')).text());
       console.log(await (await fetch('http://a.peers.default.svc:8080')).text());
       console.log(process.env.ECHO_SERVICE_HOST, require('os').hostname());
     })()`,
  );
  assert.equal(output, `true\na\na\n${spec.clusterIP} client\n`);
});

test('a Service without ready endpoints refuses, and serves as soon as there is one', async () => {
  await apply(service('empty', { selector: { group: 'late' } }));
  const { spec } = await get<{ spec: { clusterIP: string } }>('service', 'empty');
  await until('to be refused', () => isRefused(spec.clusterIP));
  await apply({ ...scriptPod('late', echo), metadata: { name: 'late', labels: { group: 'late' } } });
  await podWhere('late', isReady);
  await until('an answer', async () => (await fetch(`http://${spec.clusterIP}`)).text());
  await remove('pod', 'late');
  await until('to be refused', () => isRefused(spec.clusterIP));
});

test('a new pod of the same name is found at its new address', async () => {
  const before = await resolver.resolve4('a.peers.default.svc.cluster.local');
  await remove('pod', 'a');
  await apply(labelled('a', forever, { hostname: 'a', subdomain: 'peers' }));
  const { status } = await podWhere('a', isReady);
  assert.notDeepEqual(before, [status?.podIP]);
  await until('the new address', async () => {
    return (await resolver.resolve4('a.peers.default.svc.cluster.local')).join() === status?.podIP;
  });
});

/** Not unreachable: the node has heard of the Service. */
function isRefused(host: string): Promise<boolean> {
  return reach(host, 80).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
  );
}

function reach(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: 3000 });
    socket.on('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.on('timeout', () => reject(new Error('timed out')));
    socket.on('error', reject);
  });
}

test('pods that come and go do not change the address of the gateway that others remember', async () => {
  const address = async () => {
    const [pods] = JSON.parse(await run('ip', ['-json', 'link', 'show', 'pods'])) as [{ readonly address: string }];
    return pods.address;
  };
  const before = await address();
  const pair = ['type', 'veth', 'peer', 'name', 'lowest-peer'];
  await run('ip', ['link', 'add', 'lowest', 'address', '02:00:00:00:00:01', ...pair]);
  try {
    await run('ip', ['link', 'set', 'lowest', 'master', 'pods']);
    assert.equal(await address(), before, 'with a port that has a lower one');
  } finally {
    await run('ip', ['link', 'del', 'lowest']);
  }
  assert.equal(await address(), before, 'without it again');
});
