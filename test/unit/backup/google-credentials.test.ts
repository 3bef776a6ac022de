import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, mock, test } from 'node:test';
import { egressFrom } from '../../../functions/environment.ts';
import { GoogleCredentials } from '../../../reconcile/backup/stores/gcs/credentials.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';

/** Keys whose author wants more than a token of Google's: files of this pod, or a cloud's metadata. */

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const serviceAccount = {
  type: 'service_account',
  client_email: 'a@b.iam.gserviceaccount.com',
  private_key: privateKey,
};
const external = {
  type: 'external_account',
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
};

describe('credentials of Google', () => {
  let directory: string;
  let keyFile: string;
  let secretFile: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ratchet-google-'));
    keyFile = join(directory, 'key.json');
    secretFile = join(directory, 'of-this-pod');
    await writeFile(secretFile, 'very-secret');
  });
  after(() => rm(directory, { recursive: true }));

  async function failureOf(key: unknown, env: Readonly<Record<string, string>> = {}): Promise<BackupFailure> {
    await writeFile(keyFile, typeof key === 'string' ? key : JSON.stringify(key));
    const asked = new GoogleCredentials({ keyFile, readOnly: true, egress: egressFrom(env) }).getAccessToken();
    const failure = await asked.catch((error: unknown) => error);
    assert.ok(failure instanceof BackupFailure, String(failure));
    assert.doesNotMatch(failure.message + String(failure.cause), /very-secret|PRIVATE KEY/);
    return failure;
  }

  /** Everything that is dialled, and nothing is connected to. */
  function dialling() {
    const dialled: string[] = [];
    const mocks = [HttpAgent, HttpsAgent].map(({ prototype }) =>
      mock.method(prototype, 'createConnection', ({ host, port }: { host?: string; port?: number }) => {
        dialled.push(`${host}:${port}`);
        throw new Error('nothing is dialled here');
      }),
    );
    const restore = () => {
      for (const one of mocks) one.mock.restore();
    };
    return { dialled, [Symbol.dispose]: restore };
  }

  /** Lets a key name everything here. */
  const listing = (origin: string) => ({
    RATCHET_HOSTS: '127.0.0.1',
    RATCHET_LOCAL_HOSTS: new URL(origin).host,
    RATCHET_PLAIN_HTTP_HOSTS: '127.0.0.1',
  });

  async function serving() {
    const asked: { readonly url: string; readonly body: string }[] = [];
    const answer = async (request: IncomingMessage) => {
      asked.push({ url: request.url ?? '', body: await text(request) });
      return request.url === '/subject'
        ? 'word-of-the-pod'
        : { access_token: 'given', token_type: 'Bearer', expires_in: 3600 };
    };
    const server = createServer(async (request, response) => {
      const said = await answer(request);
      response.setHeader('content-type', typeof said === 'string' ? 'text/plain' : 'application/json');
      response.end(typeof said === 'string' ? said : JSON.stringify(said));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      asked,
      origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        server.close();
      },
    };
  }

  test('a key that asks for a file, a program or a certificate of the pod is refused', async () => {
    await using here = await serving();
    const env = listing(here.origin);
    for (const source of [
      { file: secretFile },
      { url: `${here.origin}/subject`, file: secretFile },
      { executable: { command: `/bin/cat ${secretFile}` } },
      { environment_id: 'aws1', regional_cred_verification_url: `${here.origin}/` },
      { certificate: { use_default_certificate_config: true } },
      {},
      undefined,
    ]) {
      const failure = await failureOf(
        { ...external, token_url: `${here.origin}/token`, credential_source: source },
        env,
      );
      assert.equal(failure.reason, 'Forbidden', JSON.stringify(source));
    }
    assert.deepEqual(here.asked, []);
  });

  test('a key of another type opens nothing', async () => {
    using none = dialling();
    const impersonated = { type: 'impersonated_service_account', source_credentials: serviceAccount };
    for (const key of [
      impersonated,
      { type: 'gdch_service_account' },
      { ...serviceAccount, type: undefined },
      [],
      'no JSON: very-secret',
      '',
    ])
      assert.equal((await failureOf(key)).reason, 'Forbidden', JSON.stringify(key).slice(0, 60));
    assert.equal((await failureOf({ ...serviceAccount, universe_domain: 'evil.example' })).reason, 'Forbidden');
    assert.deepEqual(none.dialled, []);
  });

  test('an external account asks none of its hosts unless the installation lists them all', async () => {
    await using here = await serving();
    const at = (url: string, token: string, more = {}) => ({
      ...external,
      ...more,
      token_url: token,
      credential_source: { url },
    });
    const [subject, token] = [`${here.origin}/subject`, `${here.origin}/token`];
    const env = listing(here.origin);
    const elsewhere = 'https://sts.example.com/token';
    for (const [key, listed] of [
      [at(subject, token), {}],
      [at(subject, elsewhere), env],
      [at('http://169.254.169.254/latest/meta-data', token), env],
      [at('http://169.254.169.254/x', token), { ...env, RATCHET_HOSTS: '127.0.0.1 169.254.169.254' }],
      [at(subject, token, { service_account_impersonation_url: elsewhere }), env],
      [at(subject, 'no URL'), env],
    ] as const)
      assert.match((await failureOf(key, listed)).reason, /^(HostRefused|Forbidden)$/, JSON.stringify(key));
    assert.equal(
      (await failureOf(at(subject, token), { ...env, RATCHET_PLAIN_HTTP_HOSTS: '' })).reason,
      'PlainHttpRefused',
    );
    assert.deepEqual(here.asked, []);
  });

  test('an installation that lists no hosts lists none for an external account', async () => {
    using none = dialling();
    const source = { url: 'https://subject.example.com/' };
    const key = { ...external, token_url: 'https://sts.example.com/token', credential_source: source };
    assert.equal((await failureOf(key)).reason, 'HostRefused');
    assert.deepEqual(none.dialled, []);
  });

  test('where they are listed it is used, for reading with a scope that reads', async () => {
    await using here = await serving();
    const key = {
      ...external,
      token_url: `${here.origin}/token`,
      credential_source: { url: `${here.origin}/subject` },
    };
    await writeFile(keyFile, JSON.stringify(key));
    const scopes: (string | undefined)[] = [];
    for (const readOnly of [true, false]) {
      const made = new GoogleCredentials({ keyFile, readOnly, egress: egressFrom(listing(here.origin)) });
      assert.equal((await made.getAccessToken()).token, 'given');
      scopes.push(new URLSearchParams(here.asked.at(-1)?.body).get('scope') ?? undefined);
    }
    const storage = 'https://www.googleapis.com/auth/devstorage';
    assert.deepEqual(scopes, [`${storage}.read_only`, `${storage}.read_write`]);
  });

  for (const [type, key] of [
    ['service_account', serviceAccount],
    ['authorized_user', { type: 'authorized_user', client_id: 'i', client_secret: 's', refresh_token: 'r' }],
  ] as const)
    test(`the token for a key of type ${type} is asked of Google, whatever the key says`, async () => {
      using google = dialling();
      const said = { token_uri: 'https://evil.example/token', token_url: 'https://evil.example/token' };
      await writeFile(keyFile, JSON.stringify({ ...key, ...said, credential_source: { file: secretFile } }));
      const made = new GoogleCredentials({ keyFile, readOnly: true, egress: egressFrom({}) });
      await assert.rejects(made.getAccessToken());
      assert.deepEqual([...new Set(google.dialled)], ['oauth2.googleapis.com:443']);
    });

  test('without a key only the metadata server is asked, and no file or variable says otherwise', async () => {
    using metadata = dialling();
    process.env.GOOGLE_APPLICATION_CREDENTIALS = keyFile;
    try {
      const made = new GoogleCredentials({ readOnly: true, egress: egressFrom({}) });
      await assert.rejects(made.getAccessToken());
      assert.ok(metadata.dialled.length > 0);
      assert.ok(metadata.dialled.every((one) => /^(169\.254\.169\.254|metadata\.google\.internal\.):80$/.test(one)));
    } finally {
      delete process.env.GOOGLE_APPLICATION_CREDENTIALS;
    }
  });
});
