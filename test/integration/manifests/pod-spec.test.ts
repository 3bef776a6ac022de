import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { kubernetesVersion, minorOf } from '../../support/cluster/binaries/kubernetes.ts';
import { type OpenApi, type PodSpecFields, podSpecFields } from '../../support/cluster/pod-spec-fields.ts';
import { shareApiServer } from '../shared-api-server.ts';

const api = await shareApiServer();
after(() => api[Symbol.asyncDispose]());

test('the fields of a PodSpec are those of one minor: older ones have no other, newer ones all', async () => {
  const { body } = await api.send('GET', '/openapi/v3/apis/apps/v1');
  const text = await readFile(new URL('../../../manifests/api/pod-spec.json', import.meta.url), 'utf8');
  const served = podSpecFields(body as unknown as OpenApi);
  const known = JSON.parse(text) as PodSpecFields;
  if (served.kubernetes === minorOf(kubernetesVersion)) {
    const wanted = `${JSON.stringify(served, null, 2)}\n`;
    assert.equal(text, wanted, `write this to manifests/api/pod-spec.json:\n${wanted}`);
  }
  const isNewer = minorNumber(served.kubernetes) > minorNumber(minorOf(kubernetesVersion));
  const [some, all] = isNewer ? [known, served] : [served, known];
  for (const [type, fields] of Object.entries(some.types)) {
    const there = new Set(Object.keys(all.types[type] ?? {}).map(nameOf));
    const names = Object.keys(fields).map(nameOf);
    const others = names.filter((name) => !there.has(name) && !gone.test(`${type}.${name}`));
    assert.deepEqual(others, [], `${type} of Kubernetes ${served.kubernetes}`);
  }
});

/** Alpha in 1.35, and taken away in 1.36. */
const gone = /^(PodSpec\.workloadRef|WorkloadReference\..*)$/;

const minorNumber = (minor: string) => Number(minor.split('.')[1]);

function nameOf(field: string): string {
  return field.replace(/!$/, '');
}
