import type { PlanView } from '../../../functions/page/plan.ts';
import type { CheckReport } from '../../../manifests/api/check-report.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { ClusterHistoryEntry, EtcdClusterStatus } from '../../../manifests/api/etcd-cluster-status.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { Condition } from '../../../manifests/api/metadata.ts';
import { repositoryFiles } from '../../../manifests/documentation.ts';
import { annotations, labels } from '../../../manifests/render/names.ts';
import { mentioning, withRunbook } from '../../../reconcile/reasons/runbook.ts';

/** A company's fleets on a middling day: most is well, something moves, one thing needs a person. */

export const now = new Date('2026-11-21T17:03:30Z');
export const head = '3f9c1d07a4be52e86b0d94c2517f8ae0c6d3b921';
const applied = '6f0f5b0e2c9a4d7713be08a5f64c1d92e7b3a860';
const revision = `main@sha1:${applied}`;

export function before(minutes: number): string {
  return new Date(now.getTime() - minutes * 60_000).toISOString();
}

export function condition(type: string, status: Condition['status'], reason: string, message: string): Condition {
  return { type, status, reason, message, lastTransitionTime: before(42), observedGeneration: 1 };
}

export function fleet(name: string, more: Partial<EtcdFleet['status']> = {}, spec: Partial<EtcdFleet['spec']> = {}) {
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdFleet',
    metadata: {
      name,
      namespace: 'etcd-ratchet',
      uid: `uid-${name}`,
      generation: 1,
      creationTimestamp: before(60 * 24 * 93),
    },
    spec: {
      git: { url: 'https://git.example.com/platform/etcd.git', ref: 'main', path: `clusters/${name}` },
      forge: { type: 'Gitea', secretName: 'forge-token' },
      ...spec,
    },
    status: {
      observedGeneration: 1,
      revision: { attempted: revision, applied: revision },
      lastRun: before(1),
      clusters: { total: 4, ready: 2, reconciling: 1, stalled: 1 },
      conditions: [
        condition('Ready', 'True', 'ClustersReady', 'every cluster is ready'),
        condition('SourceReady', 'True', 'Read', `${revision} was read`),
        condition('StatusesReported', 'True', 'Reported', 'the forge has every commit status'),
      ],
      ...more,
    },
  } as const satisfies EtcdFleet;
}

const mebi = 1024 ** 2;

export function member(name: string, more: object = {}) {
  return {
    name,
    id: Buffer.from(name.padStart(8, '~')).toString('hex').slice(-16),
    role: 'Voter',
    version: '3.6.16',
    healthy: true,
    dbBytes: 412 * mebi,
    dbInUseBytes: 268 * mebi,
    ...more,
  } as const;
}

export function cluster(
  key: string,
  { owner, ...status }: { owner?: string } & Partial<EtcdClusterStatus> = {},
  spec: Partial<EtcdCluster['spec']> = {},
): EtcdCluster {
  const [namespace = '', name = ''] = key.split('/');
  const members = status.members ?? [0, 1, 2].map((n) => member(`${name}-${n}`));
  return {
    apiVersion: 'etcd.ratchet.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: {
      name,
      namespace,
      uid: `uid-${namespace}-${name}`,
      generation: 1,
      resourceVersion: '7',
      creationTimestamp: before(60 * 24 * 81),
      ...(owner && { labels: { [labels.fleet]: `uid-${owner}` } }),
      annotations: {
        ...(owner && { [annotations.fleetName]: `etcd-ratchet/${owner}` }),
        [annotations.source]: `clusters/${owner ?? 'none'}/${name}.yaml`,
      },
    },
    spec: { replicas: 3, version: '3.6.16', storage: { size: '8Gi' }, tls: { mode: 'Managed' }, ...spec },
    status: {
      observedGeneration: 1,
      clusterID: 'cdf818194e3a8c32',
      leader: `${name}-1`,
      version: '3.6.16',
      clusterVersion: '3.6.0',
      replicas: members.length,
      readyReplicas: members.filter(({ healthy }) => healthy).length,
      revision,
      certificates: {
        notAfter: new Date(now.getTime() + 71 * 86_400_000).toISOString(),
        secretName: `${name}-0-server-tls`,
        renewAfter: new Date(now.getTime() + 41 * 86_400_000).toISOString(),
      },
      conditions: [
        condition('Ready', 'True', 'Converged', `${members.length} members of etcd 3.6.16, all healthy`),
        condition('Available', 'True', 'QuorumServes', 'a quorum of the members serves'),
        condition('CertificatesReady', 'True', 'Valid', 'every certificate is good, and seen on the wire'),
      ],
      ...status,
      members,
    },
  };
}

function past(minutes: number, action: string, target: string, reason: string, message: string, outcome = 'acted') {
  return { at: before(minutes), action, target, reason, message, outcome, generation: 4, revision };
}

const upgrading: readonly ClusterHistoryEntry[] = [
  past(
    60 * 24 * 9,
    'defragment-member',
    'orders-2',
    'Defragmenting',
    'defragmenting orders-2: 61% of its file is free',
  ),
  past(9, 'change-template', 'orders-0', 'UpgradingMember', 'giving orders-0 etcd 3.6.16'),
  past(8, 'restart-member', 'orders-0', 'UpgradingMember', 'restarting orders-0 on etcd 3.6.16'),
  past(
    5,
    'change-template',
    'orders-2',
    'EvictionRefused',
    'the disruption budget of orders allows no pod to leave now; it is tried again',
    'failed',
  ),
  past(3, 'change-template', 'orders-2', 'UpgradingMember', 'giving orders-2 etcd 3.6.16'),
  past(2, 'restart-member', 'orders-2', 'UpgradingMember', 'restarting orders-2 on etcd 3.6.16'),
];

const lost = `${mentioning(
  'a quorum is lost for good: sessions-0 and sessions-2 have been on the dead node node-c for longer than memberGracePeriod; of the others sessions-1 has the most data (raft index 88214)',
  `${repositoryFiles}/docs/runbooks/lost-quorum.md`,
)}. To go on: bring node-c back, or approve going on without them: kubectl -n web annotate --overwrite etcdcluster sessions etcd.ratchet.dev/recover-quorum=cdf818194e3a8c32/5d0c1f2ab9`;

export const orders = cluster(
  'payments/orders',
  {
    owner: 'production',
    version: '3.5.35..3.6.16',
    clusterVersion: '3.5.0',
    members: [
      member('orders-0'),
      member('orders-1', { version: '3.5.35' }),
      member('orders-2', { healthy: false, unhealthySince: before(2), dbBytes: 398 * mebi, dbInUseBytes: 120 * mebi }),
      member('orders-3', { role: 'Learner', dbBytes: 12 * mebi, dbInUseBytes: 11 * mebi, version: '3.5.35' }),
    ],
    step: {
      action: 'restart-member',
      target: 'orders-2',
      reason: 'UpgradingMember',
      holder: { pod: 'etcd-ratchet/etcd-ratchet-29123456-x7k2p', uid: 'a' },
      startedAt: before(1),
      deadline: new Date(now.getTime() + 90_000).toISOString(),
    },
    history: upgrading,
    refusals: [
      {
        reason: 'VolumeShrinkRefused',
        message:
          'spec.storage.size 4Gi is less than the 8Gi that the volumes have: a volume can not be made smaller. To go on: ask for 8Gi or more',
        field: 'spec.storage.size',
      },
    ],
    conditions: [
      condition('Ready', 'False', 'UpgradingMember', 'restarting orders-2 on etcd 3.6.16'),
      condition('Reconciling', 'True', 'UpgradingMember', 'restarting orders-2 on etcd 3.6.16'),
      condition('Available', 'True', 'QuorumServes', 'a quorum of the members serves'),
      condition('CertificatesReady', 'True', 'Valid', 'every certificate is good, and seen on the wire'),
    ],
  },
  { replicas: 4 },
);

export const sessions = cluster('web/sessions', {
  owner: 'production',
  leader: undefined as never,
  members: [
    member('sessions-0', { healthy: false, unhealthySince: before(95), version: undefined, dbBytes: undefined }),
    member('sessions-1', { healthy: false, unhealthySince: before(95) }),
    member('sessions-2', { healthy: false, unhealthySince: before(95), version: undefined, dbBytes: undefined }),
  ],
  conditions: [
    condition('Ready', 'False', 'QuorumLost', lost),
    condition('Stalled', 'True', 'QuorumLost', lost),
    condition('Available', 'False', 'NoQuorum', 'no quorum answers: sessions-1 has no leader'),
  ],
});

const asleep = cluster(
  'lab/notebooks',
  {
    owner: 'staging',
    leader: undefined as never,
    readyReplicas: 0,
    members: [0, 1, 2].map((n) => member(`notebooks-${n}`, { healthy: false })),
    conditions: [condition('Ready', 'True', 'Hibernating', 'all members are stopped, their volumes are kept')],
  },
  { replicas: 0 },
);

const born = cluster('lab/search', {
  owner: 'staging',
  clusterID: undefined as never,
  leader: undefined as never,
  version: undefined as never,
  members: [0, 1, 2].map((n) => member(`search-${n}`, { healthy: false, role: undefined, unhealthySince: before(1) })),
  conditions: [
    condition('Ready', 'False', 'WaitingForQuorum', 'waiting for search-0, search-1 and search-2 to start'),
    condition('Reconciling', 'True', 'WaitingForQuorum', 'waiting for search-0, search-1 and search-2 to start'),
    condition('Available', 'False', 'MembersStarting', 'no quorum answers: no member runs yet'),
  ],
});

export const problem = {
  file: 'clusters/production/ads.yaml',
  line: 9,
  column: 13,
  message: 'spec.replicas must be at most 9, and is 13',
};

const configured = fleet('production', {
  problems: [problem],
  problemCount: 1,
  clusters: { total: 4, ready: 2, reconciling: 1, stalled: 1 },
  verification: {
    revision,
    url: 'https://git.example.com/platform/etcd.git',
    mode: 'Head',
    signedBy: 'ada@example.com',
    key: 'SHA256:VyTs0gUn2ml7Gkz3oRXq1B8cYh5tEwPdAfLmNjQiZxU',
  },
  history: [
    { revision, outcome: 'Refused', at: before(12) },
    { revision: `main@sha1:${'4b'.repeat(20)}`, outcome: 'Applied', at: before(60 * 26) },
  ],
  checks: [
    { number: '17', head, target: applied, state: 'failure', description: `${problem.file}:9:13: ${problem.message}` },
    {
      number: '18',
      head: '7c'.repeat(20),
      target: applied,
      state: 'success',
      description: 'ledger: 1 restart, 2 steps',
    },
    { number: '19', head: '8d'.repeat(20), target: applied, state: 'untouched', description: 'nothing of this fleet' },
  ],
  conditions: [
    condition('Ready', 'False', 'DocumentsRefused', `${problem.file}:9:13: ${problem.message}`),
    condition(
      'Stalled',
      'True',
      'DocumentsRefused',
      withRunbook(`${problem.file}:9:13: ${problem.message}`, 'EtcdFleet'),
    ),
    condition('SourceReady', 'True', 'Read', `${revision} was read`),
    condition(
      'StatusesReported',
      'False',
      'ForgeUnauthorized',
      'https://git.example.com/api/v1 does not know the token in Secret forge-token: give it a new one',
    ),
  ],
});

export const clusters = [
  asleep,
  born,
  orders,
  cluster('payments/ledger', { owner: 'production' }),
  cluster('platform/discovery', {}, { replicas: 3 }),
  cluster('web/feature-flags', { owner: 'production', version: '3.7.3' }, { version: '3.7.3' }),
  sessions,
];

export const production = withInventory(configured);
export const fleets = [production, withInventory(fleet('staging'))];

/** As after the apply of the clusters that bear its label. */
function withInventory(one: EtcdFleet): EtcdFleet {
  const own = clusters.filter(({ metadata }) => metadata.labels?.[labels.fleet] === one.metadata.uid);
  const inventory = own.map(({ metadata: { namespace = '', name, uid = '' } }) => {
    return { namespace, name, uid, generation: 1, source: `clusters/${name}.yaml` };
  });
  return { ...one, status: { observedGeneration: 1, ...one.status, inventory } };
}

export const plan: PlanView = {
  kind: 'planned',
  planned: {
    summary: '4 steps: 3.5.35..3.6.16→3.6.16, 1 restart',
    risk: '2 of 3 voters are left while a member starts anew: the loss of another stops writes',
    steps: [
      step('change-template', 'orders-1', 'UpgradingMember', 'giving orders-1 etcd 3.6.16'),
      step('restart-member', 'orders-1', 'UpgradingMember', 'restarting orders-1 on etcd 3.6.16'),
      step(
        'note-versions',
        'orders-0, orders-1, orders-2',
        'RecordingVersion',
        'writing on the volumes of orders-0, orders-1, orders-2 that they run etcd 3.6.16',
      ),
      step('promote-learner', 'orders-3', 'PromotingLearner', 'making orders-3 a voter'),
    ],
    end: { kind: 'done', reason: 'Converged', message: '4 members of etcd 3.6.16, all healthy' },
  },
};

function step(action: string, target: string, reason: string, message: string) {
  return { action, target, reason, message };
}

export const report: CheckReport = {
  fleet: { namespace: 'etcd-ratchet', name: 'production' },
  request: {
    number: '17',
    title: 'Upgrade orders to 3.6, and give ads a place',
    url: 'https://git.example.com/platform/etcd/pulls/17',
    fork: false,
    draft: false,
  },
  head,
  target: applied,
  targetBranch: 'main',
  state: 'failure',
  description: 'clusters/production/ads.yaml:9:13: spec.replicas must be at most 9, and is 13; and 1 other',
  problems: [
    problem,
    {
      file: 'clusters/production/ads.yaml',
      line: 14,
      column: 5,
      message: 'spec.storge is not known; did you mean storage?',
    },
  ],
  problemCount: 2,
  signatures: 'Merge it by a commit that is signed, not by fast-forward: commit 3f9c1d07a4be is not signed',
  inherited: [],
  warnings: [
    {
      file: 'clusters/production/orders.yaml',
      line: 8,
      column: 13,
      message: 'an even number of members tolerates no more failures than one less',
    },
  ],
  deletions: [
    { namespace: 'web', name: 'legacy-sessions' },
    { namespace: 'web', name: 'feature-flags', kept: 'kept: spec.prune is false' },
  ],
  clusters: [
    {
      namespace: 'payments',
      name: 'orders',
      intent: 'update',
      fields: ['spec.replicas: 3 → 4', 'spec.version: 3.5.35 → 3.6.16'],
      planned: {
        risk: '2 of 3 voters are left while a member starts anew: the loss of another stops writes',
        summary: '9 steps: 3.5.35→3.6.16, +1 member, 3 restarts',
        steps: [
          step('change-template', 'orders-0', 'UpgradingMember', 'giving orders-0 etcd 3.6.16'),
          step('restart-member', 'orders-0', 'UpgradingMember', 'restarting orders-0 on etcd 3.6.16'),
          step(
            'prepare-members',
            'orders-3',
            'PreparingMember',
            'recording the volume and the peer of orders-3, a new member',
          ),
        ],
        end: {
          kind: 'refused',
          reason: 'VolumeShrinkRefused',
          message: 'a volume can not be made smaller',
          cure: 'ask for 8Gi or more',
        },
      },
    },
    { namespace: 'payments', name: 'ads', intent: 'create', problem: 'its document is refused' },
  ],
};

/** As they are kept: one for each open request that touches something. */
export const reports: readonly CheckReport[] = [
  report,
  {
    ...report,
    request: {
      number: '18',
      title: 'Give ledger more memory',
      url: 'https://git.example.com/platform/etcd/pulls/18',
      fork: false,
      draft: false,
    },
    head: '7c'.repeat(20),
    state: 'success',
    description: 'ledger: 1 restart, 2 steps',
    problems: [],
    problemCount: 0,
    warnings: [],
    deletions: [],
  },
];
