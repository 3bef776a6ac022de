import fc from 'fast-check';
import { followUpType } from '../../../functions/pass/follow-up/sink.ts';
import { events } from '../../../functions/serve/events.ts';
import { composed } from '../../../functions/serve/serve.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { env, fleet, installation } from '../../unit/serve/installation.ts';
import { distorted, mutated } from '../mutate.ts';
import { target } from '../target.ts';

interface Input {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const event = {
  specversion: '1.0',
  id: 'x',
  source: 'https://10.96.0.1:443',
  datacontenttype: 'application/json',
};
const cluster = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders', namespace: 'payments', uid: 'u', generation: 2, resourceVersion: '7' },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '1Gi' }, suspend: true },
};
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'orders-0-0', namespace: 'payments', labels: { 'etcd.ratchet.dev/cluster': 'orders' } },
};
const good = fc.constantFrom<Record<string, unknown>>(
  { ...event, type: 'dev.knative.sources.ping', data: {} },
  { ...event, type: 'dev.knative.apiserver.resource.update', data: cluster },
  { ...event, type: 'dev.knative.apiserver.resource.delete', data: pod },
  {
    ...event,
    type: 'dev.knative.apiserver.ref.update',
    data: { apiVersion: 'v1', kind: 'Pod', namespace: 'payments', name: 'orders-0-0' },
  },
  { ...event, type: followUpType, data: { clusters: ['payments/orders'] } },
);

const structured = distorted(good).map((text) => ({ type: 'application/cloudevents+json', text }));
const batched = distorted(fc.array(good, { maxLength: 4 })).map((text) => ({
  type: 'application/cloudevents-batch+json',
  text,
}));

const whole = fc.oneof(structured, batched).chain(
  ({ type, text }): fc.Arbitrary<Input> =>
    fc.record({
      headers: fc
        .constantFrom(type, `${type}; charset=utf-8`, type.toUpperCase(), 'application/json')
        .map((contentType) => ({
          'content-type': contentType,
        })),
      body: fc.oneof(
        { weight: 3, arbitrary: fc.constant(Buffer.from(text)) },
        mutated(fc.constant(text), ['specversion', '"id":']),
      ),
    }),
);

const value = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '1.0',
      'x',
      'dev.knative.sources.ping',
      'dev.knative.apiserver.resource.update',
      'https://a',
    ),
  },
  fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((text) => text.trim()),
);
const binary: fc.Arbitrary<Input> = fc.record({
  headers: fc
    .record(
      { id: value, source: value, type: value, specversion: value, time: value, extra: value },
      { requiredKeys: [] },
    )
    .map((given) => ({
      'content-type': 'application/json',
      ...Object.fromEntries(Object.entries(given).map(([name, said]) => [`ce-${name}`, said])),
    })),
  body: fc.oneof(
    distorted(fc.constantFrom(cluster, pod)).map((text) => Buffer.from(text)),
    mutated(fc.constant('{}')),
  ),
});

/** Settled, malformed, not to be cured by repeating, full, may pass. */
const allowed = new Set([204, 400, 413, 422, 429, 503]);

export const cloudEventTarget = target<Input>({
  name: 'CloudEvents',
  inputs: fc.oneof({ weight: 2, arbitrary: whole }, binary),
  try: async ({ headers, body }) => {
    const kube = installation();
    // A fleet that is not suspended would be fetched over the network.
    kube.seed(resources.fleets, fleet('production', { suspend: true }));
    kube.seed(resources.clusters, cluster as unknown as EtcdCluster);
    const stop = new AbortController().signal;
    const app = composed([await events({ kube, log: () => {}, env, version: '0', stop })], stop);
    const response = await app.request('/events', { method: 'POST', headers, body: Buffer.from(body) });
    if (!allowed.has(response.status)) throw new Error(`it was answered ${response.status}`);
    if ((await response.text()) !== '') throw new Error('a Broker takes a body that is no event for a failure');
  },
});
