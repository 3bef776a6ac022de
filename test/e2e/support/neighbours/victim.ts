import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../../manifests/api/etcd-fleet.ts';
import type { Pod } from '../../../../manifests/kube-types.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { cluster } from '../../../integration/manifests/tenants-objects.ts';
import { isReady, isWhole } from '../conditions.ts';
import { fleetObject } from '../furniture.ts';
import { clusterYaml } from '../specs.ts';
import { until } from '../until.ts';
import type { Installation } from './installation.ts';

/** A tenant who does what tenants do: a fleet with one cluster, and others that are made by hand. */
export interface Victim {
  readonly namespace: string;
  /** Makes a cluster by hand and removes it. @returns seconds from its creation to Ready */
  birth(): Promise<number>;
  /** Deletes a PVC of the fleet's cluster. @returns seconds until its member is replaced */
  heal(): Promise<number>;
  fleet(): Promise<EtcdFleet | undefined>;
  /** Of its commit. */
  commitStatus(): string | undefined;
}

const kept = 'kept';
const healing = { podGracePeriod: '10s', memberGracePeriod: '25s' };
/** Seconds: many times what it takes on a quiet machine. */
const within = 150;

export async function settle(installation: Installation, namespace: string): Promise<Victim> {
  const { kube, git, forge, tick } = installation;
  await installation.addTenant(namespace);
  const repository = await git.createRepository(`${namespace}/etcd`);
  const head = await repository.commit({ 'clusters/kept.yaml': clusterYaml(kept, namespace, { healing }) });
  await kube.create(resources.fleets, fleetObject(namespace, repository.url, forge.url, {}));

  const get = (name: string) => kube.get<EtcdCluster>(resources.clusters, namespace, name);
  const seen = async (name: string, what: string, is: (cluster: EtcdCluster) => boolean) => {
    let last = '';
    const look = async () => {
      const found = await get(name);
      last = JSON.stringify(found?.status?.lastDecision);
      return found && is(found) ? found : undefined;
    };
    return until(`${name} ${what}`, look, { within, last: () => last });
  };
  const since = (started: number) => (performance.now() - started) / 1000;
  const commitStatus = () =>
    [...forge.statusesOf(head)].find(([context]) => context.startsWith(`etcd-ratchet/fleet`))?.[1].state;
  const healthy = async () => {
    await seen(kept, 'is whole', isWhole);
    await until('its commit is good', async () => commitStatus() === 'success', { within });
  };
  await tick();
  await healthy();

  const remove = async (name: string) => {
    const { metadata } = (await get(name)) ?? assert.fail(`${name} is gone`);
    await kube.delete(resources.clusters, namespace, name, { preconditions: { uid: metadata.uid ?? '' } });
    await tick();
    const labelSelector = `etcd.ratchet.dev/cluster=${name}`;
    const isGone = async () => {
      const { items } = await kube.list<Pod>(resources.pods, { namespace, labelSelector });
      return items.length === 0 && (await get(name)) === undefined;
    };
    await until(`${name} is gone`, isGone, { within });
  };
  let births = 0;
  return {
    namespace,
    commitStatus,
    fleet: () => kube.get<EtcdFleet>(resources.fleets, namespace, 'fleet'),
    async birth() {
      const name = `orders-${births++}`;
      const started = performance.now();
      await kube.create(resources.clusters, cluster(namespace, name));
      await tick();
      await seen(name, 'is Ready', isReady);
      const seconds = since(started);
      await remove(name);
      return seconds;
    },
    async heal() {
      const { status } = (await get(kept)) ?? assert.fail();
      const lost = status?.members?.find(({ name }) => name !== status.leader) ?? assert.fail('no follower');
      const claim = await kube.get(resources.volumeClaims, namespace, lost.name);
      const started = performance.now();
      const uid = claim?.metadata.uid ?? assert.fail(`no PVC ${lost.name}`);
      await kube.delete(resources.volumeClaims, namespace, lost.name, { preconditions: { uid } });
      await tick();
      const isHealed = (found: EtcdCluster) =>
        isWhole(found) && found.status?.members?.every(({ name }) => name !== lost.name) === true;
      await seen(kept, `is whole without ${lost.name}`, isHealed);
      const seconds = since(started);
      await healthy();
      return seconds;
    },
  };
}
