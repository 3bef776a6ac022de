/** Stores over TLS whose certificates an authority of a person's own has signed. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { ObjectRequest } from '../../../reconcile/backup/agent/request.ts';
import { openStore } from '../../../reconcile/backup/stores/open-store.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';
import { localEgress } from '../../support/network.ts';
import { authority, leaf } from '../clients/etcd-tls-members.ts';
import { bucket, s3Secret, startFakeGcs, startVersity } from './emulators.ts';
import { temporary } from './members.ts';
import { limited, pieces } from './store-contract.ts';

const known = getCACertificates('default');
afterEach(() => setDefaultCACertificates(known));

describe('a store over TLS with a private authority', async () => {
  const place = await temporary();
  const file = async (name: string, text: string) => {
    await writeFile(join(place.path, name), text);
    return join(place.path, name);
  };
  const [own, other] = [await authority('own'), await authority('other')];
  const { certificate, key } = await leaf(own, { ipAddresses: ['127.0.0.1'], usages: ['serverAuth'] });
  const tls = { cert: await file('tls.crt', certificate), key: await file('tls.key', key) };
  const bundle = await file('ca.crt', own.certificate);
  const credentialsDirectory = place.path;
  await file('access-key-id', 'access');
  await file('secret-access-key', s3Secret);
  const s3 = await startVersity('127.0.0.1', tls);
  const gcs = await startFakeGcs(undefined, '127.0.0.1', tls);
  after(async () => {
    await s3[Symbol.asyncDispose]();
    await gcs[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });

  const stores = {
    s3: { s3: { endpoint: s3.url, region: 'eu-test-1', credentialsDirectory } },
    gs: { gcs: { endpoint: gcs.url, anonymous: true } },
  } as const satisfies Record<string, ObjectRequest['store']>;

  for (const scheme of ['s3', 'gs'] as const) {
    const at = { scheme, bucket, path: 'a.db' };
    const failureOf = async (caFile?: string) => {
      const stored = async () => {
        const store = await openStore(at, { ...stores[scheme], ...(caFile !== undefined && { caFile }) }, localEgress);
        return store.put('refused.db', pieces(Buffer.from('x')), limited());
      };
      const error = await stored().then(
        () => undefined,
        (error: unknown) => error,
      );
      assert.ok(error instanceof BackupFailure, String(error));
      return `${error.reason}: ${error.message}`;
    };

    // First: a connection that was made is used again, whatever is trusted since.
    test(`${scheme}: is refused by name without a bundle, and with another one`, async () => {
      assert.match(await failureOf(), /^NotTrusted: .*caBundle/);
      assert.match(await failureOf(await file('other.crt', other.certificate)), /^NotTrusted: .*not trusted/);
    });

    test(`${scheme}: takes and gives what its bundle vouches for, in one part and in several`, async () => {
      const store = await openStore(at, { ...stores[scheme], caFile: bundle }, localEgress);
      for (const bytes of [10, 20 * 1024 * 1024]) {
        const stored = await store.put(`${bytes}.db`, pieces(Buffer.alloc(bytes, 7)), limited());
        assert.equal(stored.bytes, bytes);
        let read = 0;
        for await (const chunk of store.read(`${bytes}.db`, limited())) read += chunk.length;
        assert.equal(read, bytes);
      }
    });
  }

  for (const [what, text] of [
    ['is empty', ''],
    ['holds something else', 'ca.crt'],
    ['holds a certificate that is cut off', own.certificate.replace(/.{40}\n/, '\n')],
    [
      'holds a sound and a broken one',
      `${own.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`,
    ],
    ['never ends', '-----BEGIN CERTIFICATE-----'.repeat(50_000)],
  ] as const) {
    test(`a bundle that ${what} is named, and changes nothing of what is trusted`, async () => {
      const caFile = await file('bad.crt', text);
      await assert.rejects(openStore({ scheme: 's3', bucket, path: 'a.db' }, { caFile }), { reason: 'NotTrusted' });
      assert.ok(!getCACertificates('default').map(fingerprint).includes(fingerprint(own.certificate)));
    });
  }

  test('a bundle that is not there is named', async () => {
    const caFile = join(place.path, 'missing.crt');
    await assert.rejects(openStore({ scheme: 's3', bucket, path: 'a.db' }, { caFile }), { reason: 'NotTrusted' });
  });
});

function fingerprint(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}
