import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { type OpenApi, podSpecFields } from '../../support/cluster/pod-spec-fields.ts';
import { startApiServer } from './api-server.ts';

const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());

test('the fields of a PodSpec are those of the newest API server', async () => {
  const { body } = await api.send('GET', '/openapi/v3/apis/apps/v1');
  const committed = await readFile(new URL('../../../manifests/api/pod-spec.json', import.meta.url), 'utf8');
  const served = `${JSON.stringify(podSpecFields(body as unknown as OpenApi), null, 2)}\n`;
  assert.equal(committed, served, `write this to manifests/api/pod-spec.json:\n${served}`);
});
