import fc from 'fast-check';
import type { Hono } from 'hono';
import { composed } from '../../../functions/serve/serve.ts';
import { webhooks } from '../../../functions/serve/webhooks.ts';
import { type WebhookType, webhookTypes } from '../../../manifests/api/etcd-fleet.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { callers } from '../../support/webhooks/deliveries.ts';
import { env, fleet, installation, url } from '../../unit/serve/installation.ts';
import { distorted, mutated } from '../mutate.ts';
import { target } from '../target.ts';

interface Input {
  readonly type: WebhookType;
  readonly event: string;
  readonly body: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
}

const facts = {
  url,
  ref: 'refs/heads/main',
  before: '1'.repeat(40),
  after: 'a'.repeat(40),
  target: 'main',
  number: 17,
};

const inputs = fc.constantFrom(...webhookTypes).chain((type): fc.Arbitrary<Input> => {
  const { events, ...caller } = callers[type];
  const good = fc.constantFrom(caller.push(facts), caller.request(facts));
  const json = distorted(good);
  return fc.record({
    type: fc.constant(type),
    event: fc.oneof(fc.constantFrom(events.push, events.request, events.other), fc.string({ maxLength: 20 })),
    body: fc.oneof(
      { weight: 3, arbitrary: json },
      mutated(json, ['\\u0000', 'payload=', '%']).map((bytes) => bytes.toString()),
    ),
    secret: fc.oneof({ weight: 9, arbitrary: fc.constant('secret') }, { weight: 1, arbitrary: fc.constant('guess') }),
    headers: fc.dictionary(
      fc.constantFrom(...strangeHeaders),
      fc.string({ unit: 'grapheme-ascii', maxLength: 60 }).map((value) => value.trim()),
      { maxKeys: 2 },
    ),
  });
});

const strangeHeaders = [
  'content-type',
  'content-length',
  'x-hub-signature-256',
  'x-signature',
  'x-gitlab-token',
  'webhook-timestamp',
  'webhook-id',
  'x-github-delivery',
  'x-event-key',
  'authorization',
];

/** Accepted, nothing to do, malformed, not proven, too large, full. */
const allowed = new Set([200, 202, 400, 401, 413, 429, 503]);

export const webhookTarget = target<Input>({
  name: 'webhooks',
  inputs,
  try: async ({ type, event, body, secret, headers: strange }) => {
    const app = await appFor(type);
    if (body === '') return; // GitHub's own library signs no such thing
    const { headers } = await callers[type].send(secret, event, body);
    const response = await app.request('/hooks/etcd-ratchet/production', {
      method: 'POST',
      headers: { ...headers, ...strange },
      body,
    });
    if (!allowed.has(response.status)) throw new Error(`${type} was answered ${response.status}`);
    const isStranger = secret !== 'secret' && !Object.keys(strange).some((name) => name !== 'content-type');
    if (isStranger && response.status !== 401)
      throw new Error(`${type} without the secret was answered ${response.status}`);
    if ((await response.text()).includes('secret')) throw new Error('the answer holds the secret');
  },
});

async function appFor(type: WebhookType): Promise<Hono> {
  const kube = installation();
  kube.seed(resources.fleets, fleet('production', { webhook: { type, secretName: 'webhook' } }));
  const stop = new AbortController().signal;
  return composed([await webhooks({ kube, log: () => {}, env, version: '0', stop })], stop);
}
