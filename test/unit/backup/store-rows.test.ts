import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { egressFrom } from '../../../functions/environment.ts';
import { hostRefusal } from '../../../manifests/egress/host-refusal.ts';
import { agentAccess, agentContainer } from '../../../manifests/render/agent-container.ts';
import {
  endpointNamed,
  type Scheme,
  type StoreRequest,
  type StoreSettings,
  schemes,
  storeSettingsOf,
  stores,
} from '../../../manifests/stores/stores.ts';
import { runAgent } from '../../../reconcile/backup/agent/agent.ts';

/** Held to every row of the table of stores: what a spec names, and with which credentials. */

interface Sample {
  /** With a Secret, where the store takes one. */
  readonly settings: (endpoint: string) => StoreSettings;
  /** Keys of that Secret. */
  readonly secret: Readonly<Record<string, string>>;
  /** What the agent is asked where it sends requests: without an issuer of tokens. */
  readonly request: (endpoint: string, directory: string) => StoreRequest;
}

const samples = {
  gs: {
    settings: (endpoint) => ({ gcs: { keySecretName: 'key', endpoint } }),
    secret: {},
    request: (endpoint) => ({ gcs: { endpoint, anonymous: true } }),
  },
  s3: {
    settings: (endpoint) => ({ s3: { credentialsSecretName: 'key', endpoint } }),
    secret: { 'access-key-id': 'access', 'secret-access-key': 'secret' },
    request: (endpoint, credentialsDirectory) => ({ s3: { endpoint, credentialsDirectory } }),
  },
  azure: {
    settings: (endpoint) => ({ azure: { account: 'acme', credentialsSecretName: 'key', endpoint } }),
    secret: { 'account-key': 'c2VjcmV0' },
    request: (endpoint, credentialsDirectory) => ({ azure: { account: 'acme', endpoint, credentialsDirectory } }),
  },
  pvc: 'it is mounted, and sends nothing',
} satisfies { readonly [S in Scheme]: Sample | string };

let directory: string;
let inside: Serving;
let outside: Serving;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ratchet-stores-'));
  inside = await serving((_, response) => response.end('of this machine'));
  outside = await serving((_, response) => response.writeHead(302, { location: `http://${inside.origin}/` }).end());
});
after(async () => {
  await rm(directory, { recursive: true });
  await inside[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
});

type Serving = Awaited<ReturnType<typeof serving>>;

async function serving(answer: RequestListener) {
  const urls: string[] = [];
  const server = createServer((request, response) => {
    urls.push(request.url ?? '');
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: (part = '') => urls.filter((url) => url.includes(part)).length,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function fetched(
  { scheme, bucket }: { readonly scheme: Scheme; readonly bucket: string },
  store: StoreRequest,
  env: Readonly<Record<string, string>>,
) {
  const file = join(directory, 'snapshot.db');
  const request = { operation: 'fetch', object: `${scheme}://${bucket}/a.db`, store, file, deadlineSeconds: 20 };
  const context = { signal: AbortSignal.timeout(20_000), now: () => new Date(), note: () => undefined };
  return (await runAgent(JSON.stringify(request), { ...context, egress: egressFrom(env) })).result;
}

for (const scheme of schemes) {
  const kind = stores[scheme];
  const sample: Sample | string = samples[scheme];
  if (typeof sample === 'string') {
    test(`${scheme}: nothing is sent`, () => assert.equal(kind.reach, 'claim'));
    continue;
  }
  const at = { scheme, bucket: 'bucket' };

  test(`${scheme}: an endpoint is seen in a spec, in what follows from it, and in the request`, () => {
    const settings = sample.settings('http://store.example.com');
    const access = agentAccess(at, settings, 'read');
    assert.equal(endpointNamed(at, settings), 'http://store.example.com');
    assert.equal(endpointNamed(at, storeSettingsOf(settings)), 'http://store.example.com');
    assert.equal(endpointNamed(at, access.request.store), 'http://store.example.com');
    const { env = [] } = agentContainer({ name: 'agent', image: 'i', request: {}, access });
    assert.ok(env.some(({ name }) => name === 'RATCHET_NAMESPACE_PLAIN_HTTP_HOSTS'));
  });

  test(`${scheme}: the Secret is mounted, and is not sent by plain HTTP`, async () => {
    await using here = await serving((_, response) => response.writeHead(404).end());
    const { request, volumes } = agentAccess(at, sample.settings(`http://${here.origin}`), 'read');
    const shown = volumes.flatMap(({ secret, projected }) => [
      ...(secret ? [{ name: secret.secretName, items: secret.items }] : []),
      ...(projected?.sources ?? []).map((source) => source.secret),
    ]);
    assert.deepEqual([...new Set(shown.map((one) => one?.name))], ['key']);
    // Without items, everything of it would be shown.
    for (const one of shown) assert.ok((one?.items ?? []).length > 0, JSON.stringify(one));
    const { reason } = await fetched(at, request.store, { RATCHET_LOCAL_HOSTS: here.origin });
    assert.deepEqual([reason, here.asked()], ['PlainHttpRefused', 0]);
  });

  test(`${scheme}: a host that is not allowed gets no Job, and is not asked by the agent`, async () => {
    await using here = await serving((_, response) => response.writeHead(404).end());
    const settings = sample.settings(`https://${here.origin}`);
    assert.match(hostRefusal(endpointNamed(at, settings)) ?? '', /RATCHET_LOCAL_HOSTS/);
    const { request } = agentAccess(at, settings, 'read');
    for (const env of [{}, { RATCHET_HOSTS: 'store.example.com', RATCHET_LOCAL_HOSTS: here.origin }])
      assert.equal((await fetched(at, request.store, env)).reason, 'HostRefused');
    assert.equal(here.asked(), 0);
  });

  for (const [where, listed] of [
    ['another host', () => outside.origin],
    ['another host that is allowed', () => `${outside.origin} ${inside.origin}`],
  ] as const)
    test(`${scheme}: a store that sends its client to ${where} does not get it there`, async () => {
      for (const [key, text] of Object.entries(sample.secret)) await writeFile(join(directory, key), text);
      // A client may go on trying under the guard of its own store: all are told of the same two servers.
      const env = { RATCHET_LOCAL_HOSTS: listed(), RATCHET_PLAIN_HTTP_HOSTS: '127.0.0.1' };
      const bucket = `${scheme}-sent-on-${where.length}`;
      const sent = await fetched({ scheme, bucket }, sample.request(`http://${outside.origin}`, directory), env);
      assert.deepEqual([sent.ok, outside.asked(bucket) > 0, inside.asked()], [false, true, 0]);
      assert.doesNotMatch(sent.message ?? '', /of this machine/);
    });

  for (const status of [301, 302, 303, 307, 308])
    test(`${scheme}: an answer of ${status} is the end of a call, also to the store itself`, async () => {
      for (const [key, text] of Object.entries(sample.secret)) await writeFile(join(directory, key), text);
      await using here = await serving(({ url }, response) =>
        url === '/followed' ? response.end('{}') : response.writeHead(status, { Location: '/followed' }).end(),
      );
      const env = { RATCHET_LOCAL_HOSTS: here.origin, RATCHET_PLAIN_HTTP_HOSTS: '127.0.0.1' };
      const { reason } = await fetched(at, sample.request(`http://${here.origin}`, directory), env);
      assert.match(reason ?? '', /^(StoreRefused|WrongRegion)$/);
      assert.deepEqual([here.asked('/bucket') > 0, here.asked('/followed')], [true, 0]);
    });
}
