import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, encode, RECURSION_DESIRED, type RecordType } from 'dns-packet';
import fc from 'fast-check';
import { answer } from '../../support/cluster/node/dns.ts';
import { type DnsRecords, lookUp } from '../../support/cluster/node/dns-answers.ts';
import type { EndpointSlice, Service } from '../../support/cluster/node/wire.ts';

const services: Record<string, object> = {
  'shop/web': { clusterIP: '10.96.1.1', ports: [{ name: 'http', port: 80 }] },
  'shop/peers': { clusterIP: 'None', ports: [{ name: 'peer', port: 2380 }] },
  'shop/none': { clusterIP: 'None' },
  'shop/away': { type: 'ExternalName', externalName: 'git.example' },
};
const slice = {
  addressType: 'IPv4',
  ports: [{ name: 'peer', port: 2380, protocol: 'TCP' }],
  endpoints: [
    { addresses: ['10.244.1.2'], hostname: 'orders-0', conditions: { ready: true } },
    { addresses: ['10.244.2.2'], conditions: { ready: true } },
    { addresses: ['10.244.3.2'], hostname: 'orders-2', conditions: { ready: false } },
  ],
};
const records: DnsRecords = {
  service: (namespace, name) => {
    const spec = services[`${namespace}/${name}`];
    return spec && ({ metadata: { namespace, name }, spec } as Service);
  },
  slices: (_namespace, name) => (name === 'peers' ? [slice as unknown as EndpointSlice] : []),
  hosts: { 'git.example': '10.1.2.3' },
};
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };

function ask(name: string, type: RecordType = 'A') {
  const query = encode({ type: 'query', id: 7, flags: RECURSION_DESIRED, questions: [{ type, name }] });
  const response = answer((name) => lookUp(records, name), query, log);
  assert.ok(response);
  const packet = decode(response);
  return {
    rcode: packet.flags === undefined ? -1 : packet.flags & 15,
    answers: packet.answers ?? [],
    authorities: packet.authorities ?? [],
  };
}

const zone = 'svc.cluster.local';
const cases: { says: string; name: string; type?: RecordType; data: unknown[]; rcode?: number }[] = [
  { says: 'a Service has its cluster address', name: `web.shop.${zone}`, data: ['10.96.1.1'] },
  { says: 'case does not matter', name: `WEB.Shop.${zone}`, data: ['10.96.1.1'] },
  { says: 'no IPv6 address is no error', name: `web.shop.${zone}`, type: 'AAAA', data: [] },
  {
    says: 'a headless Service has its ready endpoints',
    name: `peers.shop.${zone}`,
    data: ['10.244.1.2', '10.244.2.2'],
  },
  { says: 'a headless Service without endpoints exists', name: `none.shop.${zone}`, data: [] },
  { says: 'an endpoint has its host name', name: `orders-0.peers.shop.${zone}`, data: ['10.244.1.2'] },
  {
    says: 'an endpoint without a host name is found by its address',
    name: `10-244-2-2.peers.shop.${zone}`,
    data: ['10.244.2.2'],
  },
  { says: 'an endpoint that is not ready is not found', name: `orders-2.peers.shop.${zone}`, data: [], rcode: 3 },
  { says: 'an unknown Service is not found', name: `nobody.shop.${zone}`, data: [], rcode: 3 },
  { says: 'a search list’s wrong guess is not found', name: `web.shop.svc.shop.${zone}`, data: [], rcode: 3 },
  { says: 'the world outside is not found', name: 'example.com', data: [], rcode: 3 },
  { says: 'a given host has its address', name: 'git.example', data: ['10.1.2.3'] },
  { says: 'a pod is found by its address', name: '10-244-1-2.shop.pod.cluster.local', data: ['10.244.1.2'] },
  { says: 'a pod that is no address is not found', name: 'x.shop.pod.cluster.local', data: [], rcode: 3 },
];

for (const { says, name, type, data, rcode = 0 } of cases) {
  test(`${says}: ${name} ${type ?? 'A'}`, () => {
    const response = ask(name, type);
    const found = response.answers.map((record) => ('data' in record ? record.data : undefined));
    assert.deepEqual(found.sort(), data);
    assert.equal(response.rcode, rcode);
    assert.equal(response.authorities.length, data.length > 0 ? 0 : 1, 'a negative answer says how long it holds');
  });
}

test('a named port of a headless Service leads to its endpoints', () => {
  const { answers } = ask(`_peer._tcp.peers.shop.${zone}`, 'SRV');
  const targets = answers.map((record) => (record.type === 'SRV' ? `${record.data.target}:${record.data.port}` : ''));
  assert.deepEqual(targets.sort(), [`10-244-2-2.peers.shop.${zone}:2380`, `orders-0.peers.shop.${zone}:2380`]);
});

test('an external name is an alias, followed where it leads to a given host', () => {
  const { answers } = ask(`away.shop.${zone}`);
  assert.deepEqual(
    answers.map(({ type }) => type),
    ['CNAME', 'A'],
  );
});

test('no bytes whatever bring the server down', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      answer((name) => lookUp(records, name), Buffer.from(bytes), log);
    }),
  );
});
