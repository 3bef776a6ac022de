import assert from 'node:assert/strict';
import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../../../reconcile/stepping/in-parallel.ts';
import { hostileAnswers, startHostileMember, startSilentMember } from '../../../integration/clients/hostile-member.ts';
import { adopting, cluster, reportPod } from '../../../integration/manifests/tenants-objects.ts';
import { fleetObject } from '../furniture.ts';
import { until } from '../until.ts';
import type { Installation } from './installation.ts';

/** What a tenant does in one namespace. What it resolves with ends what is not gone with that. */
export type Attack = (installation: Installation, namespace: string) => Promise<AsyncDisposable>;

/** Of the network of pods, which reach here what listens beside them. */
const host = '10.244.0.1';
const nothing: AsyncDisposable = { [Symbol.asyncDispose]: async () => undefined };

function answering(what: string, count: number): Attack {
  return async (installation, namespace) => {
    const { answer } = hostileAnswers[what] ?? assert.fail(what);
    const member = await startHostileMember(answer(), { host, port: 2379 });
    await takenOver(installation, namespace, count);
    return member;
  };
}

const silent =
  (count: number): Attack =>
  async (installation, namespace) => {
    const member = await startSilentMember(host);
    await takenOver(installation, namespace, count);
    return member;
  };

/** Clusters whose only member is said to be at that address. */
async function takenOver({ kube, api }: Installation, namespace: string, count: number): Promise<void> {
  await reportPod(api, namespace, 'member', { podIP: host, phase: 'Running' });
  await inParallel([...Array(count).keys()], 8, (index) =>
    kube.create(resources.clusters, adopting(namespace, `taken-over-${index}`, 'member')),
  );
}

/** Each is to be born, and never is. Resolves when each has had its first step. */
const small =
  (count: number): Attack =>
  async ({ kube, tick }, namespace) => {
    const podTemplate = { spec: { nodeSelector: { 'example.com/none': 'true' } } };
    await inParallel([...Array(count).keys()], 8, (index) =>
      kube.create(resources.clusters, cluster(namespace, `small-${index}`, { replicas: 1, podTemplate })),
    );
    await tick();
    const areStepped = async () => {
      const { items } = await kube.list<EtcdCluster>(resources.clusters, { namespace });
      return items.every(({ status }) => status?.observedGeneration !== undefined);
    };
    await until(`${count} clusters have had a step`, areStepped, { within: 150, every: 1_000 });
    return nothing;
  };

/** As many bytes as admission lets a tenant write into objects of ours. */
const heavy =
  (count: number): Attack =>
  async ({ kube }, namespace) => {
    const annotations = { a: 'x'.repeat(60_000) };
    await inParallel([...Array(count).keys()], 8, (index) => {
      const made = cluster(namespace, `heavy-${index}`, { suspend: true });
      return kube.create(resources.clusters, { ...made, metadata: { ...made.metadata, annotations } });
    });
    return nothing;
  };

/** 100 MiB that git packs into 100 KiB. */
const repository: Attack = async ({ kube, git, forge }, namespace) => {
  const { url, commit } = await git.createRepository(`${namespace}/etcd`);
  await commit({ 'clusters/dump.yaml': `${'\0'.repeat(100 * 1024 * 1024)}${namespace}` });
  await kube.create(resources.fleets, fleetObject(namespace, url, forge.url, { forge: undefined }));
  return nothing;
};

export const attacks: Readonly<Record<string, Attack>> = {
  '32 members that answer with two million members': answering('two million members, compressed to 4 KB', 32),
  '64 members that never answer': silent(64),
  '250 EtcdClusters of 60 KB': heavy(250),
  '50 small EtcdClusters': small(50),
  'a repository with a file of 100 MiB': repository,
};
