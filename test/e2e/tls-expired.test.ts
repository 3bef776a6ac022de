import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret } from '../../manifests/kube-types.ts';
import { authoritySecretName, clusterLeaves, memberLeaves } from '../../manifests/render/certificate-names.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { createAuthority } from '../../reconcile/x509/issue.ts';
import { authorityData, type CertificateData } from '../../reconcile/x509/secret-data.ts';
import { leafOf, span } from './support/certificates.ts';
import { condition, isReady } from './support/conditions.ts';
import { scene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';
import { startWriter } from './support/writer.ts';

const stage = scene({ fleet: false });
const name = 'expired';
const peers = [`${name}-0`, `${name}-1`, `${name}-2`] as const;
/** Milliseconds from when their CAs are made; all three members have to be started with them meanwhile. */
const shortestLife = 45_000;

test('all certificates expired without a tick: each member is started with new ones', async (t) => {
  const { kubectl, namespace, tickUntil, access } = stage();
  await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace) });
  const asked = performance.now();
  await tickUntil(name, certificatesAreReady);
  // On a busy machine a start takes longer, as their birth has shown.
  const life = Math.max(shortestLife, 3 * (performance.now() - asked));
  const ends = await liveShortly(life);
  assert.ok(Date.now() < ends, 'members were started in time');
  const writer = await startWriter(await access(name), 'throughout');
  await until('writes', async () => writer.acknowledged >= 100);

  await until('everything has ended', async () => Date.now() > ends + 1_000, { within: life / 1000 + 30 });
  const before = writer.acknowledged;
  await until('writes over a connection that was made in time', async () => writer.acknowledged >= before + 100);
  const held = await podsOf();
  assert.ok(held.every(isPodReady), 'nothing in Kubernetes says that anything is the matter');
  const { acknowledged, lost } = await writer.finish();
  assert.deepEqual(lost, []);

  const started = performance.now();
  const ready = await tickUntil(name, certificatesAreReady, 200);
  t.diagnostic(`${acknowledged} writes; back after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  assert.equal(ready.status?.readyReplicas, 3);
  assert.ok(ready.status?.history?.some(({ reason }) => reason === 'ReloadingAuthorities'));
  const uids = held.map(({ metadata }) => metadata.uid);
  assert.ok(!(await podsOf()).some(({ metadata }) => uids.includes(metadata.uid)), 'each was started anew');
  const reader = await startWriter(await access(name), 'after');
  await until('writes with what was made anew', async () => reader.acknowledged >= 100);
  assert.deepEqual((await reader.finish()).lost, []);
});

/**
 * Puts CAs and leaves there that end soon, and starts all members with them. @returns when they end, in milliseconds
 * since 1970.
 */
async function liveShortly(life: number): Promise<number> {
  const { kubectl, namespace } = stage();
  const validity = span(-3600e3, life);
  const [peer, client] = await Promise.all(
    (['peer', 'client'] as const).map(async (which) => {
      const authority = await createAuthority({ commonName: `${name} ${which} CA`, ...validity });
      await replace(authoritySecretName(name, which), authorityData(authority, [authority.certificate]));
      return authority;
    }),
  );
  if (!peer || !client) return assert.fail('two CAs are made');
  const plans = [...clusterLeaves(name), ...peers.flatMap((each) => memberLeaves({ namespace, cluster: name }, each))];
  await Promise.all(
    plans.map(async (plan) =>
      replace(plan.secretName, await leafOf(plan, { peer, client }[plan.authority], { validity })),
    ),
  );
  const before = (await podsOf()).map(({ metadata }) => metadata.uid);
  await kubectl(['-n', namespace, 'delete', 'pods', '-l', `etcd.ratchet.dev/cluster=${name}`, '--wait=false']);
  await until('members are started with them', async () => {
    const pods = await podsOf();
    return pods.length === 3 && pods.every((pod) => isPodReady(pod) && !before.includes(pod.metadata.uid));
  });
  return validity.notAfter.getTime();
}

async function replace(secretName: string, data: CertificateData): Promise<void> {
  const { kube, get } = stage();
  const found = await get<Secret>(resources.secrets, secretName);
  if (!found) return assert.fail(`there is no Secret ${secretName}`);
  await kube.update<Secret>(resources.secrets, { ...found, data });
}

async function podsOf(): Promise<readonly Pod[]> {
  const pods = await stage().list<Pod>(resources.pods);
  return pods.filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

function isPodReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

function certificatesAreReady(cluster: EtcdCluster): boolean {
  return isReady(cluster) && condition(cluster, 'CertificatesReady')?.status === 'True';
}
