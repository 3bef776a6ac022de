import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api } from '../../support/cluster/node/api.ts';
import { createTokens } from '../../support/cluster/node/tokens.ts';
import type { Pod } from '../../support/cluster/node/wire.ts';

const pod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { serviceAccountName: 'sa', containers: [] },
} as unknown as Pod;

function tokenServer() {
  const requests: { path: string; body: { spec: { expirationSeconds: number; audiences?: string[] } } }[] = [];
  const create = async (path: string, body: unknown) => {
    const request = { path, body: body as (typeof requests)[0]['body'] };
    requests.push(request);
    const expires = new Date(Date.now() + request.body.spec.expirationSeconds * 1000).toISOString();
    return { status: { token: `token ${requests.length}`, expirationTimestamp: expires } };
  };
  return { api: { create } as unknown as Api, requests };
}

test('a token is asked for once, and again when 80 % of its time is over', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  const { api, requests } = tokenServer();
  const tokens = createTokens(api, pod);
  const projection = { path: 'token', expirationSeconds: 3600 };
  assert.equal(await tokens.get(projection), 'token 1');
  t.mock.timers.setTime(2879_000);
  assert.equal(await tokens.get(projection), 'token 1');
  t.mock.timers.setTime(2881_000);
  assert.equal(await tokens.get(projection), 'token 2');
  assert.equal(requests[0]?.path, '/api/v1/namespaces/n/serviceaccounts/sa/token');
  assert.equal(requests[0]?.body.spec.audiences, undefined);
});

test('a token of a year is renewed after a day', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  const tokens = createTokens(tokenServer().api, pod);
  await tokens.get({ path: 'token', expirationSeconds: 365 * 86_400 });
  assert.equal(tokens.renewAt(), 86_400_000);
});

test('each audience has its own token', async () => {
  const { api, requests } = tokenServer();
  const tokens = createTokens(api, pod);
  assert.notEqual(await tokens.get({ path: 'a', audience: 'vault' }), await tokens.get({ path: 'b' }));
  assert.deepEqual(requests[0]?.body.spec.audiences, ['vault']);
});
