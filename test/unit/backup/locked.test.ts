import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openAzure } from '../../../reconcile/backup/stores/azure/azure.ts';
import { openGcs } from '../../../reconcile/backup/stores/gcs/gcs.ts';
import type { Store } from '../../../reconcile/backup/stores/store.ts';

/** Locks of stores whose emulators have none, as their documentation writes the answers. */

const signal = AbortSignal.timeout(30_000);
const until = new Date('2999-01-01T00:00:00Z');

/** A store with one object, which it does not delete. */
async function against(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  open: (url: string) => Store,
  check: (store: Store) => Promise<void>,
): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await check(open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

for (const [what, told, lockedUntil, reason] of [
  ['a policy of the bucket', { retentionExpirationTime: until.toISOString() }, until, 'Locked'],
  ['its own retention', { retention: { retainUntilTime: until.toISOString(), mode: 'Locked' } }, until, 'Locked'],
  ['a temporary hold', { temporaryHold: true }, 'held', 'Locked'],
  ['an event-based hold', { eventBasedHold: true }, 'held', 'Locked'],
  ['a policy that is over', { retentionExpirationTime: '2020-01-01T00:00:00Z' }, new Date('2020-01-01'), 'Forbidden'],
  ['no time', { retentionExpirationTime: 'soon' }, undefined, 'Forbidden'],
] as const) {
  test(`Google's refusal to delete is told by what the object says: ${what}`, async () => {
    const object = { name: 'a.db', size: '8', generation: '1', updated: '2026-01-01T00:00:00Z', ...told };
    await against(
      ({ method }, response) => {
        const isDelete = method === 'DELETE';
        response.writeHead(isDelete ? 403 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(isDelete ? { error: { code: 403, message: 'x' } } : object));
      },
      (endpoint) => openGcs('backups', { endpoint, anonymous: true }),
      async (store) => {
        const found = (await store.stat('a.db', { signal })) ?? assert.fail();
        assert.deepEqual(found.lockedUntil, lockedUntil);
        await assert.rejects(store.delete(found, { signal }), { reason });
      },
    );
  });
}

for (const [what, headers, lockedUntil] of [
  ['a policy of the container', {}, undefined],
  ['its own policy', { 'x-ms-immutability-policy-until-date': until.toUTCString() }, until],
  ['a legal hold', { 'x-ms-legal-hold': 'true' }, 'held'],
] as const) {
  test(`Azure's refusal to delete is told by its code: ${what}`, async () => {
    await against(
      ({ method }, response) => {
        const found = { etag: '"1"', 'content-length': '8', 'last-modified': until.toUTCString(), ...headers };
        if (method === 'DELETE') response.writeHead(409, { 'x-ms-error-code': 'BlobImmutableDueToPolicy' }).end();
        else response.writeHead(200, found).end();
      },
      (endpoint) => openAzure('backups', { account: 'a', endpoint, credentials: { accountKey: 'a2V5' } }),
      async (store) => {
        const found = (await store.stat('a.db', { signal })) ?? assert.fail();
        assert.deepEqual(found.lockedUntil, lockedUntil);
        await assert.rejects(store.delete(found, { signal }), { reason: 'Locked' });
      },
    );
  });
}
