import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { labelsOf, recoveryJobName, recoveryPodLabels } from '../../../manifests/render/names.ts';
import {
  type AuthorityRead,
  deleteAuthority,
  hasMemberPods,
  readAuthority,
  trustOnlyNewest,
  writeAuthorityRecord,
} from '../../../reconcile/cluster/act/requests/authorities.ts';
import { makeAuthority, succeedAuthority } from '../../../reconcile/cluster/act/requests/new-authorities.ts';
import { validityFrom } from '../../../reconcile/cluster/know/certificates/validity.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import type { Program } from '../../../reconcile/requests/program.ts';
import { type Contract, type Contracts, othersAct } from './contract.ts';
import { member } from './members.ts';
import { clusterName, type Scene } from './scene.ts';
import { type AuthorityStart, authority, authorityName, managed } from './secrets.ts';
import { whenStale } from './stale.ts';

const which = 'peer' as const;
const secret = { object: 'secret', name: authorityName } as const;
const tls = managed;

async function none(): Promise<void> {}

const withCa = (start?: AuthorityStart) => (scene: Scene) => authority(scene, which, start);

/** A person's, of that name. */
const theirs = { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: 'theirs' }] };

function* read(): Program<AuthorityRead> {
  const found = yield* readAuthority({ authority: which });
  if (!found) throw moved('there is no CA');
  yield* othersAct();
  return found;
}

function* recorded() {
  const { readAt, record } = yield* read();
  const written = { ...record, rotation: 'asked', servedSince: '2026-01-02T03:04:05.000Z' };
  return yield* writeAuthorityRecord({ authority: which, readAt, record: written });
}

function* retired() {
  const { readAt, record } = yield* read();
  return yield* trustOnlyNewest({ authority: which, readAt, record });
}

function* deleted() {
  const { readAt, uid } = yield* read();
  return yield* deleteAuthority({ authority: which, readAt, uid });
}

function newIn({ at }: Observation) {
  const validity = validityFrom(undefined, at);
  return { authority: which, cluster: clusterName, record: { token: 'another' }, validity };
}

function* made(seen: Observation, word?: 'known' | 'stranger') {
  const { certificates } = seen;
  const found = yield* readAuthority({ authority: which });
  yield* othersAct();
  const before = certificates.kind === 'read' ? certificates.authorities[which]?.facts : undefined;
  return yield* makeAuthority({
    ...newIn(seen),
    ...(found && { readAt: found.readAt }),
    trusted: before?.authorities ?? [],
    ...(word && { word }),
  });
}

function* succeeded(seen: Observation) {
  const { readAt } = yield* read();
  return yield* succeedAuthority({ ...newIn(seen), readAt });
}

const stale = (asks: Contract['asks'], start: AuthorityStart = {}) =>
  whenStale(secret, { tls, start: withCa(start), asks });

/** A pod by itself, which its controller is yet to see. */
const podNamed = (name: string, labels: Readonly<Record<string, string>>) => async (scene: Scene) => {
  const metadata = { name, labels };
  const spec = { containers: [{ name: 'etcd', image: 'etcd' }] };
  await scene.make(resources.pods, { metadata, spec } as KubeObject);
};

const ofRecovery = {
  ...recoveryPodLabels(clusterName),
  'batch.kubernetes.io/job-name': recoveryJobName(`${clusterName}-0`),
};

async function unlabelled(scene: Scene): Promise<void> {
  await member(scene);
  const pod = await scene.read<KubeObject>('pod', `${clusterName}-0`);
  await scene.kube.update(resources.pods, { ...pod, metadata: { ...pod.metadata, labels: {} } });
  const found = await scene.read<EtcdCluster>('cluster', clusterName);
  const status = { observedGeneration: 1, members: [{ name: `${clusterName}-0`, healthy: true }] } as never;
  await scene.kube.updateStatus<EtcdCluster>(resources.clusters, { ...found, status });
}

export const authorities = {
  readAuthority: [
    { when: 'it is ours', tls, start: withCa(), asks: () => readAuthority({ authority: which }) },
    {
      when: 'its record is whole, and another CA is trusted beside it',
      tls,
      start: withCa({
        beside: true,
        record: { trust: 'word', rotation: 'asked', servedSince: '2026-01-02T03:04:05Z' },
      }),
      asks: () => readAuthority({ authority: which }),
    },
    { when: 'there is none', tls, start: none, asks: () => readAuthority({ authority: which }) },
    {
      when: 'the Secret of that name is of another owner',
      tls,
      start: withCa(theirs),
      asks: () => readAuthority({ authority: which }),
    },
    {
      when: 'nothing in it can be read',
      tls,
      start: withCa({ data: 'none' }),
      asks: () => readAuthority({ authority: which }),
    },
    {
      when: 'its key is that of another CA',
      tls,
      start: withCa({ data: 'halved' }),
      asks: () => readAuthority({ authority: which }),
    },
  ],
  writeAuthorityRecord: [
    { when: 'it is as it was read', tls, start: withCa(), asks: recorded },
    { when: 'nothing in it can be read', tls, start: withCa({ data: 'none' }), asks: recorded },
    ...stale(recorded),
  ],
  trustOnlyNewest: [
    { when: 'another CA is trusted beside it', tls, start: withCa({ beside: true }), asks: retired },
    { when: 'it is the only one already', tls, start: withCa(), asks: retired },
    {
      when: 'an issuer signed the one before it',
      tls,
      start: withCa({ beside: true, signed: 'earlier' }),
      asks: retired,
    },
    ...stale(retired, { beside: true }),
  ],
  deleteAuthority: [
    { when: 'it is as it was read', tls, start: withCa(), asks: deleted },
    {
      when: 'others wrote to it since it was read',
      tls,
      start: withCa(),
      others: [{ does: 'writes to', ...secret }],
      asks: deleted,
    },
    { when: 'it is gone by then', tls, start: withCa(), others: [{ does: 'deletes', ...secret }], asks: deleted },
    {
      when: 'it was made anew since it was read',
      tls,
      start: withCa(),
      others: [{ does: 'makes anew', ...secret }],
      asks: deleted,
      refused: 'precondition Conflict',
    },
  ],
  makeAuthority: [
    { when: 'there is none', tls, start: none, asks: (seen) => made(seen) },
    { when: 'there is none, and it is a stranger', tls, start: none, asks: (seen) => made(seen, 'stranger') },
    { when: 'it takes the place of one', tls, start: withCa(), asks: (seen) => made(seen, 'known') },
    {
      when: 'it takes the place of two',
      tls,
      start: withCa({ beside: true, record: { trust: 'word' } }),
      asks: (seen) => made(seen, 'known'),
    },
    { when: 'nothing in the one before can be read', tls, start: withCa({ data: 'none' }), asks: (seen) => made(seen) },
    {
      when: 'another step has made it since it was looked for',
      tls,
      start: withCa(),
      asks: (seen) => makeAuthority({ ...newIn(seen), trusted: [] }),
      refused: 'precondition WorldMoved',
    },
    ...stale((seen) => made(seen)),
  ],
  succeedAuthority: [
    { when: 'the one before it is good', tls, start: withCa(), asks: succeeded },
    { when: 'the one before it ends sooner', tls, start: withCa({ left: 5 }), asks: succeeded },
    { when: 'the one before it has ended', tls, start: withCa({ left: -0.5 }), asks: succeeded },
    { when: 'the one before it had one before', tls, start: withCa({ beside: true }), asks: succeeded },
    { when: 'an issuer signed the one before it', tls, start: withCa({ signed: 'this' }), asks: succeeded },
    ...stale(succeeded),
  ],
  hasMemberPods: [
    { when: 'a member has one', asks: () => hasMemberPods({}) },
    {
      when: 'no member has one',
      start: (scene) => member(scene, { upTo: 'statefulSet' }),
      asks: () => hasMemberPods({}),
    },
    { when: 'it is listed, and lost its labels', start: unlabelled, asks: () => hasMemberPods({}) },
    {
      when: 'only a recovery has one',
      start: podNamed('orders-0-recovery-x', ofRecovery),
      asks: () => hasMemberPods({}),
    },
    {
      when: 'it is of another cluster',
      start: podNamed('stock-0-0', labelsOf('stock')),
      asks: () => hasMemberPods({}),
    },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
