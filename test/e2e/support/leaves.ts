import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Pod, Secret } from '../../../manifests/kube-types.ts';
import {
  authoritySecretName,
  clusterLeaves,
  gatewayLeaf,
  type LeafPlan,
  memberLeaves,
} from '../../../manifests/render/certificate-names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createAuthority } from '../../../reconcile/x509/issue.ts';
import { authorityData, authorityOf, type CertificateData, trustOf } from '../../../reconcile/x509/secret-data.ts';
import { due, leafOf, putSecret, span } from './certificates.ts';
import type { Scene } from './scene.ts';
import { until } from './until.ts';
import { fingerprintIn, shownAt } from './wire.ts';

/** All leaves of a managed cluster of three with a client of the gateway, as time would change them. */

export type Leaf = { readonly plan: LeafPlan; readonly secret: Secret };

export async function leavesOf({ namespace, get }: Scene, name: string): Promise<readonly Leaf[]> {
  return Promise.all(
    plansOf(namespace, name).map(async (plan) => {
      const secret = await get<Secret>(resources.secrets, plan.secretName);
      return { plan, secret: secret ?? assert.fail(plan.secretName) };
    }),
  );
}

/** Makes all leaves anew, of the same CAs, as they would be when two thirds of their life are over. */
export async function wearOut(scene: Scene, name: string): Promise<readonly Leaf[]> {
  for (const { plan } of await leavesOf(scene, name)) {
    const authority = await scene.get<Secret>(resources.secrets, authoritySecretName(name, plan.authority));
    const data = authority?.data ?? {};
    const leaf = await leafOf(plan, authorityOf(data), { validity: due(), trust: trustOf(data) });
    await putSecret(scene, plan.secretName, leaf);
  }
  return leavesOf(scene, name);
}

/** Moves all recorded deadlines into the past, as weeks would have. */
export async function comeDue({ cluster, kube }: Scene, name: string): Promise<void> {
  const found = await cluster(name);
  const certificates = found.status?.certificates;
  assert.ok(found.status && certificates);
  const renewAfter = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+Z$/, 'Z');
  await kube.updateStatus<EtcdCluster>(resources.clusters, {
    ...found,
    status: { ...found.status, certificates: { ...certificates, renewAfter } },
  });
}

/** Each member its own, on the port for clients and on that for members. */
export async function areShown({ list }: Scene, expected: readonly Leaf[]): Promise<boolean> {
  const pods = await list<Pod>(resources.pods);
  const ofMembers = expected.filter(({ plan }) => plan.peer !== undefined);
  const shown = await Promise.all(
    ofMembers.map(async ({ plan, secret }) => {
      const pod = pods.find(({ metadata }) => metadata.name === `${plan.peer}-0`);
      const port = plan.purpose === 'peer' ? 2380 : 2379;
      const host = pod?.status?.podIP ?? assert.fail(`there is no ${plan.peer}`);
      return (await shownAt(host, port, plan.dnsNames[0] ?? '', secret)) === fingerprintIn(secret);
    }),
  );
  assert.equal(shown.length, 6);
  return shown.every(Boolean);
}

/**
 * Puts CAs and leaves there that end soon, and starts all members with them.
 *
 * @returns when they end, in milliseconds since 1970.
 */
export async function liveShortly(scene: Scene, name: string, life: number): Promise<number> {
  const { kubectl, namespace } = scene;
  const validity = span(-3600e3, life);
  const [peer, client] = await Promise.all(
    (['peer', 'client'] as const).map(async (which) => {
      const authority = await createAuthority({ commonName: `${name} ${which} CA`, ...validity });
      await replace(scene, authoritySecretName(name, which), authorityData(authority, [authority.certificate]));
      return authority;
    }),
  );
  if (!peer || !client) return assert.fail('two CAs are made');
  await Promise.all(
    plansOf(namespace, name).map(async (plan) =>
      replace(scene, plan.secretName, await leafOf(plan, { peer, client }[plan.authority], { validity })),
    ),
  );
  const before = (await podsOf(scene, name)).map(({ metadata }) => metadata.uid);
  await kubectl(['-n', namespace, 'delete', 'pods', '-l', `etcd.ratchet.dev/cluster=${name}`, '--wait=false']);
  await until('members are started with them', async () => {
    const pods = await podsOf(scene, name);
    return pods.length === 3 && pods.every((pod) => isPodReady(pod) && !before.includes(pod.metadata.uid));
  });
  return validity.notAfter.getTime();
}

export async function podsOf({ list }: Scene, name: string): Promise<readonly Pod[]> {
  return (await list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
}

/** Not being deleted, either. */
export function isPodReady({ metadata, status }: Pod): boolean {
  const isReady = status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return isReady && metadata.deletionTimestamp === undefined;
}

function plansOf(namespace: string, cluster: string): readonly LeafPlan[] {
  const place = { namespace, cluster };
  const peers = [0, 1, 2].map((ordinal) => `${cluster}-${ordinal}`);
  return [...clusterLeaves(cluster), gatewayLeaf(place), ...peers.flatMap((peer) => memberLeaves(place, peer))];
}

async function replace({ kube, get }: Scene, secretName: string, data: CertificateData): Promise<void> {
  const found = await get<Secret>(resources.secrets, secretName);
  if (!found) return assert.fail(`there is no Secret ${secretName}`);
  await kube.update<Secret>(resources.secrets, { ...found, data });
}
