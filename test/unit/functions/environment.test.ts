import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { identityFrom, withPodNamespace } from '../../../functions/environment.ts';

const directory = await mkdtemp(join(tmpdir(), 'environment-'));
after(() => rm(directory, { recursive: true }));
const file = join(directory, 'namespace');
await writeFile(file, 'elsewhere');

test('a pod of Knative, which has no POD_NAMESPACE, knows its namespace from its service account', () => {
  const { cronJob } = identityFrom(withPodNamespace({ CRONJOB_NAME: 'etcd-ratchet' }, file));
  assert.deepEqual(cronJob, { namespace: 'elsewhere', name: 'etcd-ratchet' });
});

test('what the environment says counts, and outside of a pod there is no namespace', () => {
  assert.equal(withPodNamespace({ POD_NAMESPACE: 'said' }, file).POD_NAMESPACE, 'said');
  assert.equal(withPodNamespace({}, join(directory, 'missing')).POD_NAMESPACE, undefined);
});
