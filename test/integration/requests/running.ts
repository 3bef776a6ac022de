import { clusterLeaves } from '../../../manifests/render/certificate-names.ts';
import { podHost } from '../../../manifests/render/names.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { EndpointStatus, ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import type { Alarm } from '../../../reconcile/interfaces/etcd-admin.ts';
import { type EtcdVersion, etcdVersions } from '../../support/cluster/binaries/catalogue.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';
import type { Contract, Contracts } from './contract.ts';
import type { ChangingCluster, EtcdCluster, FillingCluster } from './etcd-place.ts';
import type { Users } from './guarded-etcd.ts';
import { type MemberStart, member } from './members.ts';
import { clusterName, type Scene, type SomeScene } from './scene.ts';
import { leaf, managed } from './secrets.ts';

/** Members whose pods have the addresses of real etcd processes. */

export const wrongCluster = '1234';
export const unknownMember = 'abcdef0123456789';

/** The same contracts for each minor. Those of one minor may take turns: minors alternate, and wait less. */
export function onEachMinor<At extends SomeScene = Scene, Seen = Observation>(
  contractsOf: (version: EtcdVersion) => Contracts<At, Seen>,
): Contracts<At, Seen> {
  const lists = etcdVersions.map((version) =>
    contractsOf(version).map((contract) => ({ ...contract, when: `etcd ${version}: ${contract.when}` })),
  );
  const longest = Math.max(...lists.map(({ length }) => length));
  const [first, ...rest] = Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list[index] ?? []));
  const [one, ...more] = first ?? [];
  if (!one) throw new Error('no minor is supported');
  return [one, ...more, ...rest.flat()];
}

/** Three voters, and a learner that never started; asked, and refused, and never changed. */
export const steady = (version: EtcdVersion, more?: Pick<MemberStart, 'unsealed'>) => (scene: SomeScene) =>
  run(scene, scene.stage.etcd[version].steady, more);

/** Contracts that change the list take turns. */
export function changing(
  version: EtcdVersion,
  what: Parameters<ChangingCluster['become']>[0],
  more?: Pick<MemberStart, 'unsealed'>,
) {
  return {
    turn: { of: 'changing', version },
    start: async (scene: SomeScene) => {
      const cluster = scene.stage.etcd[version].changing;
      await cluster.become(what);
      await run(scene, cluster, more);
    },
  } as const;
}

/** One of two voters, the other of which is gone. */
export const bereft = (version: EtcdVersion) => (scene: SomeScene) => run(scene, scene.stage.etcd[version].bereft);

/** The same, and started anew since. */
export const anew = (version: EtcdVersion) => (scene: SomeScene) => {
  const cluster = scene.stage.etcd[version].anew;
  return run(scene, cluster, {}, { memberId: cluster.memberId });
};

/** A voter alone, with a few keys, each written twice, and with these alarms raised. Contracts take turns. */
export function filling(
  version: EtcdVersion,
  alarms: readonly Alarm['alarm'][],
  keys: Parameters<FillingCluster['become']>[0] = { count: 2, bytes: 10 },
) {
  return {
    turn: { of: 'filling', version },
    start: async (scene: SomeScene) => {
      const cluster = scene.stage.etcd[version].filling;
      await cluster.become(keys);
      for (const alarm of alarms) await cluster.raise(alarm);
      await run(scene, cluster);
    },
  } as const;
}

async function run(
  scene: SomeScene,
  { members, clusterId }: EtcdCluster,
  more: Pick<MemberStart, 'unsealed'> = {},
  known: MemberStart['record'] = {},
): Promise<void> {
  for (const [ordinal, { clientUrl }] of members.entries()) {
    const address = new URL(clientUrl).hostname;
    await member(scene, { ordinal, record: { clusterId, ...known }, pod: { ready: true, address }, ...more });
  }
}

/** A voter alone, with TLS, these users and roles, and our certificate in its Secret. Contracts take turns. */
export function guarded(version: EtcdVersion, users: Users) {
  return {
    turn: { of: 'guarded', version },
    tls: managed,
    start: async (scene: Scene) => {
      const cluster = scene.stage.etcd[version].guarded;
      await cluster.become(users, podHost(scene.namespace, clusterName, name));
      const [ours] = clusterLeaves(clusterName);
      await leaf(scene, ours, cluster.clients);
      await run(scene, cluster);
    },
  } as const;
}

/** One whose container runs, and which does not answer. */
export async function silent(scene: SomeScene): Promise<void> {
  await member(scene, { pod: { ready: true, address: ownAddress() } });
}

/** Of what is asked of etcd as a cluster, and refused before it is done. */
export function whenNotServed(
  version: EtcdVersion,
  ask: (clusterId: string, seen: Observation) => ReturnType<Contract['asks']>,
  { changes }: { readonly changes: boolean },
): readonly Contract[] {
  return [
    {
      when: 'another cluster answers',
      start: steady(version),
      asks: (seen) => ask(wrongCluster, seen),
      refused: 'precondition ClusterIdMismatch',
    },
    {
      when: 'no quorum answers',
      start: bereft(version),
      asks: (seen) => ask(clusterIn(seen), seen),
      // A change is not sent; of a question it is not known.
      refused: changes ? 'retryable EtcdUnreachable' : 'retryable EtcdDidNotAnswer',
    },
    { when: 'no member answers', start: silent, asks: (seen) => ask('c1', seen), refused: 'retryable EtcdUnreachable' },
  ];
}

export function clusterIn(seen: Observation): string {
  return listIn(seen).clusterId;
}

/** Where no quorum answers, its members at least tell which cluster it is. */
export function listIn(seen: Observation): {
  readonly clusterId: string;
  readonly members: readonly ListedMember[];
} {
  const { membership } = seen;
  if (membership.kind === 'known') return membership;
  return { clusterId: statusesIn(seen)[0]?.clusterId ?? 'c1', members: [] };
}

export function statusesIn({ slots }: Observation): readonly EndpointStatus[] {
  return slots.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? [endpoint.status] : []));
}

/** Of one that leads, a voter that does not, or a learner; `none`: there is no such member. */
export function idOf(seen: Observation, what: 'leader' | 'follower' | 'learner'): string {
  const leader = seen.slots.flatMap(({ endpoint }) => (endpoint.kind === 'known' ? [endpoint.status.leader] : []))[0];
  const found = listIn(seen).members.find(({ id, isLearner }) => {
    if (what === 'learner') return isLearner;
    return !isLearner && (id === leader) === (what === 'leader');
  });
  return found?.id ?? 'none';
}

export const name = `${clusterName}-0`;
