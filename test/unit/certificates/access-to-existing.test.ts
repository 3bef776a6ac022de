import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { readCertificates } from '../../../reconcile/cluster/observe/certificates/read.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { kubeOf } from '../cluster/actions/on-kube.ts';
import { namespace, unborn } from '../cluster/observations.ts';

const provided = { peerSecretName: 'my-peer', serverSecretName: 'my-server', clientSecretName: 'my-client' };
const tls = { mode: 'Provided' as const, provided };
const existing = { clusterID: 'c1c1', memberIDs: ['ed0'], podLabels: { app: 'old' } };

/** What etcd is asked with, where these Secrets are there. */
async function accessWith(spec: Partial<EtcdClusterSpec>, ...names: readonly string[]) {
  const observation = unborn(3, { spec: { tls, ...spec } });
  const kube = kubeOf(observation);
  for (const name of names) {
    const data = Object.fromEntries(['tls.crt', 'tls.key', 'ca.crt'].map((key) => [key, btoa(`${key} of ${name}`)]));
    await kube.create(resources.secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data });
  }
  const { cluster, slots, at } = observation;
  const asked = { wire: async () => undefined, requested: { kind: 'unasked' } as const };
  const signal = AbortSignal.timeout(10_000);
  const { access } = await readCertificates({ kube, cluster, slots, at, signal, ...asked });
  return access;
}

test('members that are taken over are asked with what a person provides, until we have a Secret', async () => {
  const first = await accessWith({ bootstrap: { existing } }, 'my-client');
  assert.ok(first.kind === 'tls');
  assert.equal(first.tls.cert, 'tls.crt of my-client');
  const later = await accessWith({ bootstrap: { existing } }, 'my-client', 'orders-reconciler-tls');
  assert.ok(later.kind === 'tls');
  assert.equal(later.tls.cert, 'tls.crt of orders-reconciler-tls');
});

test('a Secret that a person has to provide is named while it is missing', async () => {
  const access = await accessWith({ bootstrap: { existing } });
  assert.deepEqual(access, { kind: 'none', cause: 'there is no Secret my-client to speak to etcd with' });
});

test('where no cluster is taken over, nothing is asked with what was not inspected', async () => {
  const access = await accessWith({}, 'my-client');
  assert.deepEqual(access, { kind: 'none', cause: 'there is no Secret orders-reconciler-tls to speak to etcd with' });
});
