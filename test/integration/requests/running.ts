import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { EndpointStatus, ListedMember } from '../../../reconcile/interfaces/etcd.ts';
import type { Alarm } from '../../../reconcile/interfaces/etcd-admin.ts';
import { type EtcdVersion, etcdVersions } from '../../support/cluster/binaries/catalogue.ts';
import { ownAddress } from '../manifests-build/etcd-process.ts';
import type { Contract, Contracts } from './contract.ts';
import type { ChangingCluster, EtcdCluster, FillingCluster } from './etcd-place.ts';
import { type MemberStart, member } from './members.ts';
import { clusterName, type Scene, type SomeScene } from './scene.ts';

/** Members whose pods have the addresses of real etcd processes. */

export const wrongCluster = '1234';
export const unknownMember = 'abcdef0123456789';

/** The same contracts for each minor. */
export function onEachMinor<At extends SomeScene = Scene, Seen = Observation>(
  contractsOf: (version: EtcdVersion) => Contracts<At, Seen>,
): Contracts<At, Seen> {
  const [first, ...rest] = etcdVersions.map((version) => {
    const [one, ...more] = contractsOf(version);
    const named = (contract: Contract<At, Seen>): Contract<At, Seen> => ({
      ...contract,
      when: `etcd ${version}: ${contract.when}`,
    });
    return [named(one), ...more.map(named)] as const;
  });
  if (!first) throw new Error('no minor is supported');
  return [first[0], ...first.slice(1), ...rest.flat()];
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

/** One whose container runs, and which does not answer. */
export async function silent(scene: SomeScene): Promise<void> {
  await member(scene, { pod: { ready: true, address: ownAddress() } });
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
