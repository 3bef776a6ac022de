/** A pod without a key, whose service account is one of the cloud: the clients find the identity by themselves. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openGcs } from '../../../reconcile/backup/stores/gcs/gcs.ts';
import { openS3 } from '../../../reconcile/backup/stores/s3/s3.ts';
import { bucket, s3Secret, startFakeGcs, startVersity } from './emulators.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { gcsSessions } from './gcs-sessions.ts';
import { temporary } from './members.ts';
import { limited, pieces, reasonOf, whole } from './store-contract.ts';

const data = Buffer.from('what is stored');

/** What a cloud gives to a pod, by its word on whose it is. */
async function issuer(answer: RequestListener) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function withEnvironment(env: Readonly<Record<string, string>>): Disposable {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  return {
    [Symbol.dispose]: () => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  return (await whole(request)).toString();
}

test('on Google Cloud the token of the metadata server goes with every request, uploads too', async () => {
  await using place = await temporary();
  const proxy = await startFaultProxy(gcsSessions());
  await using _ = proxy;
  await using gcs = await startFakeGcs(proxy.url);
  proxy.target = gcs.url;
  const asked: string[] = [];
  await using metadata = await issuer((request, response) => {
    asked.push(`${request.headers['metadata-flavor']} ${request.url?.split('?')[0]}`);
    response.setHeader('Metadata-Flavor', 'Google').setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ access_token: 'of-the-pod', expires_in: 3600, token_type: 'Bearer' }));
  });
  using __ = withEnvironment({
    GCE_METADATA_HOST: metadata.host,
    METADATA_SERVER_DETECTION: 'assume-present',
    HOME: place.path,
  });
  const seen = new Set<string | undefined>();
  proxy.fault = ({ headers, url = '' }) => {
    // A session is known by its own ID.
    if (!url.includes('upload_id=')) seen.add(headers.authorization);
    return 'pass';
  };
  const store = openGcs(bucket, { endpoint: proxy.url });
  await store.put('identity/a.db', pieces(data), limited());
  assert.deepEqual(await whole(store.read('identity/a.db', limited())), data);
  const large = randomBytes(20 * 1024 * 1024 + 5);
  const before = proxy.faults();
  for (const [index, fault] of ([{ status: 503 }, { resetAfter: 100 * 1024 }, 'loseAnswer'] as const).entries()) {
    proxy.fault = (_, number) => (number % 3 === 2 ? fault : 'pass');
    await store.put(`identity/large-${index}.db`, pieces(large), limited());
    proxy.fault = () => 'pass';
    assert.ok((await whole(store.read(`identity/large-${index}.db`, limited()))).equals(large));
  }
  assert.ok(proxy.faults() > before, 'nothing was injected');
  assert.equal(await reasonOf(store.put('identity/a.db', pieces(data), limited())), 'Exists');
  store.close();
  assert.deepEqual([...seen], ['Bearer of-the-pod']);
  assert.ok(asked.includes('Google /computeMetadata/v1/instance/service-accounts/default/token'), asked.join(', '));
});

test('on AWS the role of the service account is assumed, and a refusal of it is told', async () => {
  await using place = await temporary();
  await using s3 = await startVersity();
  const proxy = await startFaultProxy();
  await using _ = proxy;
  proxy.target = s3.url;
  const tokenFile = join(place.path, 'token');
  await writeFile(tokenFile, 'signed-by-the-cluster');
  let refuses = true;
  const asked: URLSearchParams[] = [];
  await using sts = await issuer(async (request, response) => {
    asked.push(new URLSearchParams(await textOf(request)));
    response.setHeader('Content-Type', 'text/xml');
    if (refuses) {
      response.statusCode = 403;
      response.end('<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>');
      return;
    }
    const Expiration = new Date(Date.now() + 3600_000).toISOString();
    const given = `<AccessKeyId>access</AccessKeyId><SecretAccessKey>${s3Secret}</SecretAccessKey><SessionToken>for-an-hour</SessionToken><Expiration>${Expiration}</Expiration>`;
    response.end(
      `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>${given}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    );
  });
  using __ = withEnvironment({
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/backups',
    AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    AWS_ENDPOINT_URL_STS: `http://${sts.host}`,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_REGION: 'eu-test-1',
    HOME: place.path,
  });
  const settings = { endpoint: proxy.url, region: 'eu-test-1' };
  const refused = openS3(bucket, settings);
  assert.equal(await reasonOf(refused.stat('identity/a.db', limited())), 'Forbidden');
  refused.close();
  refuses = false;
  const seen: string[] = [];
  // The emulator knows no session tokens.
  proxy.fault = ({ headers }) => {
    seen.push(`${headers['x-amz-security-token']} ${/Credential=(\w+)/.exec(String(headers.authorization))?.[1]}`);
    return { status: 404 };
  };
  const store = openS3(bucket, settings);
  assert.equal(await store.stat('identity/a.db', limited()), undefined);
  store.close();
  assert.deepEqual(seen, ['for-an-hour access']);
  assert.equal(asked.at(-1)?.get('WebIdentityToken'), 'signed-by-the-cluster');
  assert.equal(asked.at(-1)?.get('RoleArn'), 'arn:aws:iam::123456789012:role/backups');
});
