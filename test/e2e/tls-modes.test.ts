import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim, Pod, Secret } from '../../manifests/kube-types.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { condition, isReady, isStalledFor } from './support/conditions.ts';
import { readKey, writeKey } from './support/keys.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { ask, fingerprintIn } from './support/wire.ts';

const stage = scene({ fleet: false });

async function apply(name: string, tls?: Readonly<Record<string, unknown>>): Promise<void> {
  const { kubectl, namespace } = stage();
  const fields = { replicas: 1, ...(tls && { tls }) };
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
}

test('plaintext is possible, and said plainly; the API server refuses another mode of what lives', async () => {
  const { tickUntil, access, list, kubectl, namespace } = stage();
  const name = 'plain';
  await apply(name, { mode: 'Disabled' });
  const cluster = await tickUntil(name, isReady);
  const said = condition(cluster, 'CertificatesReady');
  assert.deepEqual([said?.status, said?.reason], ['False', 'Disabled']);
  assert.match(said?.message ?? '', /plaintext.*every client that reaches the pods can read and write all keys/);
  assert.equal(cluster.status?.certificates, undefined);
  const secrets = (await list<Secret>(resources.secrets)).filter(({ metadata }) => metadata.name.startsWith(name));
  assert.deepEqual(secrets, [], 'no Secret is made');
  await writeKey(await access(name), 'open', 'to all');
  assert.equal(await readKey(await access(name), 'open'), 'to all');

  for (const tls of [{ mode: 'Managed' }, undefined]) {
    await assert.rejects(apply(name, tls), /tls\.mode is decided at birth: peer URLs carry the scheme/);
  }
  const patch = JSON.stringify({ spec: { tls: { mode: 'Managed' } } });
  await assert.rejects(
    kubectl(['-n', namespace, 'patch', 'etcdcluster', name, '--type=merge', '-p', patch]),
    /tls\.mode is decided at birth/,
  );
});

describe('applied again in another mode', { concurrency: true }, () => {
  for (const [name, born, wanted] of [
    ['unveiled', 'Managed', 'Disabled'],
    ['veiled', 'Disabled', 'Managed'],
  ] as const) {
    test(`born ${born}, applied again as ${wanted}: refused with the reason, it runs on as ${born}`, async () => {
      const { kubectl, namespace, tickUntil, access, list } = stage();
      await apply(name, { mode: born });
      const before = await tickUntil(name, isReady);
      await writeKey(await access(name), 'precious', 'still here');
      const authority =
        born === 'Managed' ? await stage().get<Secret>(resources.secrets, `${name}-client-ca`) : undefined;
      await kubectl(['-n', namespace, 'delete', 'etcdcluster', name]);
      await until('its pods are gone', async () => (await podsOf()).length === 0, { within: 120 });

      await apply(name, { mode: wanted });
      const stalled = await tickUntil(
        name,
        (cluster) => isStalledFor('TlsModeRefused')(cluster) && cluster.status?.readyReplicas === 1,
        150,
      );
      assert.match(
        condition(stalled, 'Stalled')?.message ?? '',
        new RegExp(`created with TLS mode ${born}.*To go on: set spec.tls.mode to ${born}`),
      );
      assert.equal(condition(stalled, 'Available')?.status, 'True');
      assert.equal(stalled.status?.clusterID, before.status?.clusterID);
      const [pod] = await podsOf();
      const plain = await ask({ host: pod?.status?.podIP ?? '', port: 2379, path: '/version' });
      assert.equal('status' in plain && plain.status === 200, born === 'Disabled', JSON.stringify(plain));

      // What it says can be done: the API server's own rule does not stand in the way of it.
      await apply(name, { mode: born });
      await tickUntil(name, isReady);
      assert.equal(await readKey(await access(name), 'precious'), 'still here');
      if (authority) {
        const kept = await stage().get<Secret>(resources.secrets, `${name}-client-ca`);
        assert.equal(fingerprintIn(kept), fingerprintIn(authority), 'the CA stayed with the volumes');
      }
      const claims = (await list<PersistentVolumeClaim>(resources.volumeClaims)).map(({ metadata }) => metadata.name);
      assert.ok(claims.includes(`${name}-0`));

      async function podsOf(): Promise<readonly Pod[]> {
        return (await list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
      }
    });
  }
});
