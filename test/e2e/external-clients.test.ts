import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Service } from '../../manifests/kube-types.ts';
import { externalServiceName } from '../../manifests/render/names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { startBalancer } from '../support/cluster/balancer.ts';
import { typedIn } from '../support/docs/typed-by.ts';
import type { Access } from './support/client.ts';
import { isReady } from './support/conditions.ts';
import { assertForetold, foretell } from './support/foretold.ts';
import { readKey, writeKey } from './support/keys.ts';
import { asOf, type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { ask } from './support/wire.ts';

const stage = scene({ fleet: false });
const name = 'outside';
const externalName = 'etcd.example.test';

async function apply(fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { kubectl, namespace } = stage();
  const spec = { replicas: 1, tls: { dnsNames: [externalName] }, ...fields };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, spec) });
}

const external = () => stage().get<Service>(resources.services, externalServiceName(name));

/** By a node's address and the node port, and by the external name: nothing that only pods can look up. */
async function fromOutside(): Promise<Access & { readonly host: string; readonly port: number }> {
  const { kubectl, access } = stage();
  const address = '{.items[0].status.addresses[?(@.type=="InternalIP")].address}';
  const [host = ''] = (await kubectl(['get', 'nodes', '-o', `jsonpath=${address}`])).split(' ');
  const port = (await external())?.spec.ports?.[0]?.nodePort ?? assert.fail('no node port');
  return { ...(await access(name)), url: `https://${host}:${port}`, serverName: externalName, host, port };
}

test('a client outside connects by a node port and an external name, and TLS is verified in full', async (t) => {
  const { tickUntil, access } = stage();
  await apply({ service: { type: 'NodePort', annotations: { 'example.com/note': 'for the bank' } } });
  const foretold = await foretell(stage(), name);
  t.diagnostic(assertForetold(foretold, await tickUntil(name, isReady)));
  assert.equal((await external())?.metadata.annotations?.['example.com/note'], 'for the bank');
  const looks = typedIn('e2e/external-clients')('docs/how-to/external-clients.md#names');
  await type(stage(), name, {}, asOf({ payments: stage().namespace, orders: name }, looks));

  const way = await fromOutside();
  await until('the node port is served', async () => {
    await writeKey(way, 'from', 'outside');
    return true;
  });
  assert.equal(await readKey(await access(name), 'from'), 'outside', 'it is the same cluster');

  const ca = way.credentials?.rootCertificate.toString() ?? '';
  const { host, port } = way;
  const other = await ask({ host, port, path: '/version', tls: { serverName: 'other.example.test', ca } });
  assert.match('refused' in other ? other.refused : '', /ERR_TLS_CERT_ALTNAME_INVALID/);
  const nameless = await ask({ host, port, path: '/version', tls: { serverName: externalName, ca } });
  assert.ok('refused' in nameless, `without a client certificate: ${JSON.stringify(nameless)}`);
});

test('a load balancer leads a client in by name, and by its address once the spec names that', async () => {
  const { tickUntil, access, kubectl, namespace } = stage();
  const before = await external();
  await apply({ service: { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24'] } });
  const isSettled = (cluster: EtcdCluster) =>
    cluster.status?.observedGeneration === cluster.metadata.generation && isReady(cluster);
  await tickUntil(name, isSettled);
  const made = await external();
  assert.partialDeepStrictEqual(made?.spec, { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24'] });
  assert.equal(made?.metadata.uid, before?.metadata.uid, 'it is the same Service');

  const { host, port } = await fromOutside();
  const servicePort = made?.spec.ports?.[0]?.port ?? assert.fail('no port');
  await using balancer = await startBalancer('127.0.0.77', servicePort, { host, port });
  const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: balancer.address }] } } });
  const patch = ['patch', 'service', externalServiceName(name), '--subresource=status', '--type=merge', '-p', status];
  await kubectl(['-n', namespace, ...patch]);
  const given = await external();
  const way = { ...(await access(name)), url: `https://${balancer.address}:${servicePort}`, serverName: externalName };
  await writeKey(way, 'through', 'the balancer');
  assert.equal(await readKey(await access(name), 'through'), 'the balancer');

  const byAddress = { ...way, serverName: balancer.address };
  await assert.rejects(writeKey(byAddress, 'by', 'address'), 'no certificate has an address that the cloud chose');
  const dnsNames = [externalName, balancer.address];
  await apply({ service: { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24'] }, tls: { dnsNames } });
  await tickUntil(name, isSettled);
  await until('members present a certificate with the address', async () => {
    await writeKey(byAddress, 'by', 'address');
    return true;
  });
  const left = await external();
  assert.equal(
    left?.metadata.resourceVersion,
    given?.metadata.resourceVersion,
    'what the balancer wrote is left alone',
  );
  await apply({ service: { type: 'NodePort' } });
  await tickUntil(name, isSettled);
});

test('what the spec takes back goes, its port stays, and without spec.service it is closed', async () => {
  const { tickUntil } = stage();
  const before = await external();
  await apply({ service: { type: 'NodePort' } });
  const isSettled = ({ metadata, status }: EtcdCluster) => status?.observedGeneration === metadata.generation;
  await tickUntil(name, (cluster) => isSettled(cluster) && isReady(cluster));
  const after = await external();
  assert.equal(after?.metadata.annotations?.['example.com/note'], undefined);
  assert.deepEqual(
    [after?.metadata.uid, after?.spec.ports?.[0]?.nodePort],
    [before?.metadata.uid, before?.spec.ports?.[0]?.nodePort],
  );
  await apply({});
  await tickUntil(name, (cluster) => isSettled(cluster) && isReady(cluster));
  assert.equal(await external(), undefined);
});
