import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { kubernetesVersion, minorOf } from '../../support/cluster/binaries/kubernetes.ts';
import { type OpenApi, type PodSpecFields, podSpecFields } from '../../support/cluster/pod-spec-fields.ts';
import { shareApiServer } from '../shared-api-server.ts';

const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

test('the fields of a PodSpec are those of the newest API server, and an older one has no others', async () => {
  const { body } = await api.send('GET', '/openapi/v3/apis/apps/v1');
  const text = await readFile(new URL('../../../manifests/api/pod-spec.json', import.meta.url), 'utf8');
  const served = podSpecFields(body as unknown as OpenApi);
  const known = JSON.parse(text) as PodSpecFields;
  if (served.kubernetes === minorOf(kubernetesVersion)) {
    const wanted = `${JSON.stringify(served, null, 2)}\n`;
    assert.equal(text, wanted, `write this to manifests/api/pod-spec.json:\n${wanted}`);
  }
  for (const [type, fields] of Object.entries(served.types)) {
    const ours = new Set(Object.keys(known.types[type] ?? {}).map(nameOf));
    const others = Object.keys(fields).filter((field) => !ours.has(nameOf(field)));
    assert.deepEqual(others, [], `${type} of Kubernetes ${served.kubernetes}`);
  }
});

function nameOf(field: string): string {
  return field.replace(/!$/, '');
}
