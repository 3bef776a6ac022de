import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import type { EtcdBackupSchedule } from '../../../manifests/api/etcd-backup-schedule.ts';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { EtcdNodePolicy } from '../../../manifests/api/etcd-node-policy.ts';
import type { EtcdPeer } from '../../../manifests/api/etcd-peer.ts';
import type { EtcdRestore } from '../../../manifests/api/etcd-restore.ts';

/** Documents, good and bad, for the offline validator and for a real API server alike. */

export const cluster: EtcdCluster = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders', namespace: 'default' },
  spec: { replicas: 3, version: '3.6.16', storage: { size: '8Gi' } },
};

/** Everything that can be set, set. */
export const fullCluster: EtcdCluster = {
  ...cluster,
  metadata: {
    ...cluster.metadata,
    labels: { team: 'payments' },
    annotations: { 'example.com/note': 'any text', 'etcd.ratchet.dev/prune': 'confirm' },
  },
  spec: {
    ...cluster.spec,
    version: '3.7.3',
    storage: {
      size: '8Gi',
      storageClassName: 'fast',
      volumeClaimTemplate: {
        metadata: { labels: { backup: 'no' } },
        spec: { accessModes: ['ReadWriteOncePod'], selector: { matchLabels: { disk: 'nvme' } } },
      },
    },
    image: {
      repository: 'registry.example.com:5000/mirror/etcd',
      digest: `sha256:${'0'.repeat(64)}`,
      pullSecrets: [{ name: 'pull' }],
    },
    etcd: {
      quotaBackendBytes: '6Gi',
      autoCompaction: { mode: 'Periodic', retention: '1h' },
      heartbeatInterval: '100ms',
      electionTimeout: '1s',
      snapshotCount: 10_000,
      extraArgs: { 'max-txn-ops': '1024' },
    },
    resources: { limits: { memory: '2Gi' }, requests: { cpu: '500m', memory: 1073741824 } },
    podTemplate: {
      metadata: { labels: { zone: 'a' } },
      spec: { priorityClassName: 'high', containers: [{ name: 'etcd', env: [{ name: 'GOGC', value: '50' }] }] },
    },
    healing: { mode: 'Manual', podGracePeriod: '90s', memberGracePeriod: '1h30m' },
    defragmentation: { mode: 'Enabled', minReclaim: '256Mi', maxUsedPercent: 60 },
    tls: {
      mode: 'Managed',
      gatewayClient: 'Enabled',
      dnsNames: ['etcd.example.com', '*.etcd.example.com', '10.0.0.1', 'FD00::1', '::', '64:ff9b::10.0.0.1'],
      certificateLifetime: '720h',
      managed: { authorityLifetime: '8760h' },
      rotationOverlap: '1h',
    },
    auth: {
      mode: 'Enabled',
      users: [{ name: 'orders-client', roles: ['all', 'some'] }, { name: 'admin', roles: ['root'] }, { name: 'none' }],
      roles: [
        { name: 'all', rights: [{ prefix: '', access: 'ReadWrite' }] },
        {
          name: 'some',
          rights: [
            { prefix: '/ö/', access: 'Read' },
            { key: '/a', access: 'Write' },
            { range: { from: '/a', to: '/c' }, access: 'Read' },
          ],
        },
        { name: 'nothing' },
      ],
    },
    volumeRetention: {
      whenDeleted: 'Delete',
      whenScaled: 'Retain',
      whenReplaced: { policy: 'Delete', keepFor: '72h' },
    },
    disruption: { whenQuorumIsLost: 'Allow' },
    networkPolicy: {
      mode: 'Enabled',
      clients: [
        {
          namespaceSelector: { matchLabels: { team: 'shop', 'example.com/empty': '' } },
          podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['cart', 'Till_2.0'] }] },
        },
        { ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.128/25'] } },
        { ipBlock: { cidr: 'fd00::/8' } },
      ],
      monitoring: [{ namespaceSelector: { matchExpressions: [{ key: 'monitoring', operator: 'Exists' }] } }],
    },
    service: {
      type: 'LoadBalancer',
      labels: { tier: 'data' },
      annotations: { 'external-dns.alpha.kubernetes.io/hostname': 'etcd.example.com' },
      nodePort: 32379,
      loadBalancerClass: 'service.k8s.aws/nlb',
      loadBalancerSourceRanges: ['192.0.2.0/24', 'fd00::/8'],
      externalTrafficPolicy: 'Local',
    },
    suspend: true,
  },
};

const company = { issuerRef: { name: 'company', kind: 'ClusterIssuer' } } as const;
const clientNames = ['app.shop.example.com', 'app.example.com', 'app.shop.svc.example.com', '10.0.0.x7f'];

/** It lets in certificates by their names, of one issuer for all. */
export const namedCluster: EtcdCluster = {
  ...cluster,
  spec: {
    ...cluster.spec,
    etcd: { extraArgs: { 'max-txn-ops': '1024' } },
    tls: {
      mode: 'CertManager',
      peerSourceAddress: 'Any',
      certManager: { ...company, allowedNames: 'Own', clientNames },
    },
  },
};

const named = (settings: object) => ({ mode: 'CertManager', certManager: { ...company, ...settings } });
const own = (...names: string[]) => named({ allowedNames: 'Own', clientNames: names });

export const fleet: EtcdFleet = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdFleet',
  metadata: { name: 'production', namespace: 'default' },
  spec: { git: { url: 'https://git.example.com/platform/etcd.git', ref: 'main' } },
};

export const fullFleet: EtcdFleet = {
  ...fleet,
  spec: {
    git: {
      url: 'http://10.0.0.1:3000/a/b',
      ref: 'refs/tags/v1.0',
      path: 'clusters/prod',
      secretName: 'git-credentials',
    },
    forge: { type: 'Gitea', apiURL: 'https://git.example.com/api/v1', secretName: 'forge-token' },
    serviceAccountName: 'fleet-production',
    prune: true,
    maxClustersInProgress: 2,
    rollout: {
      stages: [{ name: 'canary', matchLabels: { stage: 'canary' }, soak: '2h', maxClustersInProgress: '50%' }],
    },
    suspend: false,
  },
};

export const peer: EtcdPeer = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdPeer',
  metadata: { name: 'orders-0', namespace: 'default' },
  spec: {
    clusterName: 'orders',
    ordinal: 0,
    version: '3.6.16',
    image: { repository: 'quay.io/coreos/etcd' },
    bootstrap: {
      token: 'random',
      initialCluster: [{ name: 'orders-0', url: 'http://orders-0-0.orders-peers.default.svc:2380' }],
      state: 'New',
    },
    storage: { size: '8Gi' },
    tls: { mode: 'Disabled' },
  },
};

export const backup: EtcdBackup = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdBackup',
  metadata: { name: 'orders-before-upgrade', namespace: 'default' },
  spec: { clusterName: 'orders', to: { object: 'pvc://backups/{{namespace}}/{{cluster}}/{{timestamp}}.db' } },
};

export const fullBackup: EtcdBackup = {
  ...backup,
  metadata: { name: 'elsewhere', namespace: 'default' },
  spec: {
    source: { endpoints: ['https://10.0.0.1:2379', 'https://[fd00::1]:2379'], tlsSecretName: 'etcd-client' },
    to: {
      object: 's3://backups.example/{{namespace}}/elsewhere/{{ name }}-{{uid}}/{{timestamp}}.db',
      compression: 'Zstd',
      s3: {
        credentialsSecretName: 'key',
        endpoint: 'https://s3.example.com',
        region: 'eu-central-1',
        addressing: 'Path',
      },
      caBundle: { configMapName: 'store-ca', key: 'store.crt' },
      encryption: { recipientsSecretName: 'public', identitySecretName: 'private' },
      serviceAccountName: 'backups',
    },
    verify: 'Restore',
    scratch: { storageClassName: 'fast', size: '20Gi' },
    podTemplate: {
      metadata: { labels: { 'cost-center': '7' }, annotations: { 'example.com/note': 'backups' } },
      spec: {
        nodeSelector: { pool: 'etcd' },
        tolerations: [{ key: 'pool', operator: 'Equal', value: 'etcd', effect: 'NoExecute' }],
        affinity: { nodeAffinity: {} },
        runtimeClassName: 'gvisor',
        schedulerName: 'packing',
      },
      users: 'OfPlatform',
    },
    deadline: '2h',
  },
};

export const schedule: EtcdBackupSchedule = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdBackupSchedule',
  metadata: { name: 'orders-nightly', namespace: 'default' },
  spec: { schedule: '30 2 * * *', template: backup.spec },
};

export const restore: EtcdRestore = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdRestore',
  metadata: { name: 'orders-again', namespace: 'default' },
  spec: { backupName: 'orders-1', cluster: { name: 'orders-2', spec: cluster.spec } },
};

export const fullRestore: EtcdRestore = {
  ...restore,
  metadata: { name: 'by-object', namespace: 'default' },
  spec: {
    from: {
      object: 's3://backups/orders/20261122T230000Z.db',
      sha256: '0123456789abcdef'.repeat(4),
      revision: 81_724,
      s3: {
        credentialsSecretName: 'backup-key',
        endpoint: 'https://minio.example.com',
        region: 'eu-1',
        addressing: 'Path',
      },
      caBundle: { secretName: 'store-ca' },
      encryption: { identitySecretName: 'age-identity' },
      serviceAccountName: 'backups',
    },
    cluster: { name: 'orders-3', spec: fullCluster.spec },
  },
};

export const nodePolicy: EtcdNodePolicy = {
  apiVersion: 'etcd.ratchet.dev/v1alpha1',
  kind: 'EtcdNodePolicy',
  metadata: { name: 'all' },
  spec: { nodeSelector: {} },
};

export const fullNodePolicy: EtcdNodePolicy = {
  ...nodePolicy,
  metadata: { name: 'workers' },
  spec: {
    nodeSelector: { 'node-role.kubernetes.io/worker': '' },
    maxUnavailable: '25%',
    windows: [{ start: '0 22 * * MON-FRI', duration: '6h', timeZone: 'Europe/Berlin' }],
    suspend: false,
    blockedBy: [{ namespace: 'batch', labels: { 'must-not-stop': 'yes' } }],
    groupLabel: 'topology.kubernetes.io/zone',
    blockedByAlerts: {
      url: 'http://prometheus.monitoring:9090/prefix',
      labels: { severity: 'critical' },
      ignore: ['Watchdog'],
    },
    sentinel: { path: '/run/os-updates/reboot-required', every: '30m' },
    kured: { namespace: 'kube-system', daemonSet: 'kured' },
    skipDrain: true,
    allowDowntimeOf: ['payments/orders'],
    drain: { timeout: '1h', unmanagedPods: 'Evict' },
    reboot: { method: 'Command', command: ['/sbin/reboot'], timeout: '30m' },
  },
};

export const fullSchedule: EtcdBackupSchedule = {
  ...schedule,
  metadata: { name: 'elsewhere', namespace: 'default' },
  spec: {
    schedule: '*/10,7 0-6/2 ? JAN,mar-12 MON-FRI',
    timeZone: 'America/Argentina/Buenos_Aires',
    startingDeadline: '30m',
    concurrencyPolicy: 'Allow',
    suspend: true,
    retention: { last: 3, hourly: 24, daily: 7, weekly: 4, monthly: 12, mode: 'DryRun' },
    maxAge: '26h',
    history: { good: 1, failed: 0 },
    template: fullBackup.spec,
  },
};

export interface BadDocument {
  /** Finishes the sentence "… is refused". */
  readonly title: string;
  readonly document: object;
  /** Part of what the offline validator says. */
  readonly says: string;
  /** Whether a bare API server with our CRDs refuses it too; `later` is what only the reconciler would notice. */
  readonly server: 'refuses' | 'later';
}

/** A copy in which one field has another value, or is gone (`undefined`). */
export function changed(document: object, path: string, value: unknown): object {
  const copy = structuredClone(document);
  const keys = path.split('/');
  const last = keys.pop() ?? '';
  let parent = copy as Record<string, unknown>;
  for (const key of keys) {
    parent[key] ??= {};
    parent = parent[key] as Record<string, unknown>;
  }
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

type Row = readonly [path: string, value: unknown, says: string, server?: 'later'];

function rows(kind: string, document: object, table: readonly Row[]): BadDocument[] {
  return table.map(([path, value, says, server = 'refuses' as const]) => ({
    title: `${kind}: ${path} ${value === undefined ? 'left out' : `= ${clipped(JSON.stringify(value))}`}`,
    document: changed(document, path, value),
    says,
    server,
  }));
}

function clipped(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

const right = (given: object) => ({ mode: 'Enabled', roles: [{ name: 'a', rights: [given] }] });

const issuerMissing = 'it is required with mode CertManager';
const secretsMissing = 'provided names your Secrets: it is required with mode Provided';

export const badClusters = rows('a cluster', cluster, [
  ['spec', undefined, 'spec is required'],
  ['spec', [], 'spec must be an object, is a list'],
  ['metadata/name', 'x'.repeat(49), 'metadata.name must be at most 48 characters'],
  ['metadata/name', 'orders-peers', 'metadata.name must not end in -peers'],
  ['metadata/name', '1orders', 'starting with a letter'],
  ['metadata/name', 'a.b', 'metadata.name must be lower-case letters'],
  ['metadata/name', 'Orders', 'metadata.name must be lower-case letters'],
  ['spec/rollback', {}, 'spec.rollback.clusterID is required'],
  ['spec/rollback', { clusterID: 'a1' }, 'name what it goes back to: either snapshot or backupName, not both'],
  [
    'spec/rollback',
    { clusterID: 'a1', backupName: 'a', snapshot: { object: 'gs://backups/a.db' } },
    'name what it goes back to: either snapshot or backupName, not both',
  ],
  ['spec/rollback', { clusterID: 'a1', backupName: '' }, 'spec.rollback.backupName must'],
  ...['A', '../a', 'a/b', 'a b', 'ａ', '-a', 'a\n'].map(
    (backupName): Row => ['spec/rollback', { clusterID: 'a1', backupName }, 'spec.rollback.backupName must'],
  ),
  ['spec/rollback', { clusterID: 'a1', backupName: 'a', namespace: 'other' }, 'namespace'],
  ['spec/rollback', { clusterID: 'a1', snapshot: {} }, 'spec.rollback.snapshot.object is required'],
  ['spec/rollback', { clusterID: 'a1', snapshot: { object: 'gs://b' } }, 'must be the whole name of an object'],
  ['spec/rollback', { clusterID: 161, snapshot: { object: 'gs://backups/a.db' } }, 'must be a string'],
  ...['', 'A1', '0a1', '0xa1', 'a1/b2', 'a1\n', ' a1', 'ａ1', 'g1'].map(
    (clusterID): Row => [
      'spec/rollback',
      { clusterID, snapshot: { object: 'gs://backups/a.db' } },
      'must be the ID of an etcd cluster, as status.clusterID says it',
    ],
  ),
  ['spec/rollback', { clusterID: 'a'.repeat(17), snapshot: { object: 'gs://backups/a.db' } }, 'at most 16 characters'],
  ['spec/rollback', { clusterID: 'a1', approved: true, snapshot: { object: 'gs://backups/a.db' } }, 'approved'],
  ['spec/replicas', undefined, 'spec.replicas is required'],
  ['spec/replicas', 'three', 'spec.replicas must be an integer, is "three"'],
  ['spec/replicas', '3', 'spec.replicas must be an integer, is "3"'],
  ['spec/replicas', 3.5, 'spec.replicas must be an integer, is 3.5'],
  ['spec/replicas', -1, 'spec.replicas must be at least 0, is -1'],
  ['spec/replicas', 10, 'spec.replicas must be at most 9, is 10'],
  ['spec/replicas', null, 'spec.replicas is required, but empty'],
  ['spec/version', undefined, 'spec.version is required'],
  ['spec/version', 3.6, 'spec.version must be a string, is 3.6: put it in quotes'],
  ['spec/version', '3.6', 'must be a version of etcd like 3.6.16, without v'],
  ['spec/version', '3.4.30', 'supported are 3.5 (from 3.5.19 on), 3.6 and 3.7'],
  ['spec/version', '3.5.18', 'supported are 3.5 (from 3.5.19 on), 3.6 and 3.7'],
  ['spec/version', '3.8.0', 'supported are'],
  ['spec/version', '4.6.0', 'supported are'],
  ['spec/version', '3.6.0-rc.1', 'supported are'],
  ['spec/version', 'v3.6.16', 'must be a version of etcd like 3.6.16, without v'],
  ['spec/version', '3.06.1', 'supported are'],
  ['spec/version', '3.6.016', 'supported are'],
  ['spec/version', '3.6.16\n', 'supported are'],
  ['spec/version', `3.6.${'1'.repeat(40)}`, 'must have at most 32 characters'],
  ['spec/storage', undefined, 'spec.storage is required'],
  ['spec/storage', {}, 'spec.storage.size is required'],
  ['spec/storage/size', true, 'spec.storage.size must be a string or an integer, is true'],
  ['spec/storage/size', 8.5, 'spec.storage.size must be a string or an integer, is 8.5'],
  ['spec/storage/size', '8GB', 'spec.storage.size must be a quantity like 8Gi'],
  ['spec/storage/size', '8 Gi', 'must be a quantity'],
  ['spec/storage/size', '', 'must be a quantity'],
  ['spec/storage/size', '-8Gi', 'from 128Mi to 1Pi'],
  ['spec/storage/size', 8, 'from 128Mi to 1Pi'],
  ['spec/storage/size', '2Ei', 'from 128Mi to 1Pi'],
  ['spec/storage/storageClassName', 'Fast SSD', 'spec.storage.storageClassName must be the name of an object'],
  ['spec/storage/volumeClaimTemplate/spec', { resources: {} }, 'the size is spec.storage.size', 'later'],
  ['spec/storage/volumeClaimTemplate/spec', { volumeMode: 'Block' }, 'volumeMode must be Filesystem', 'later'],
  ['spec/storage/volumeClaimTemplate/spec', { accessModes: ['ReadOnlyMany'] }, 'must allow writing', 'later'],
  ['spec/tls', 'Disabled', 'spec.tls must be an object, is "Disabled"'],
  ['spec/tls', { mode: 'CertManager' }, issuerMissing],
  [
    'spec/tls',
    { mode: 'CertManager', certManager: { peerIssuerRef: { name: 'ca' } } },
    'spec.tls.certManager.issuerRef is required',
  ],
  ['spec/tls', { mode: 'Managed', certManager: { issuerRef: { name: 'ca' } } }, issuerMissing],
  ['spec/tls', { certManager: { issuerRef: { name: 'ca' } } }, issuerMissing],
  ['spec/tls', { mode: 'CertManager', certManager: { issuerRef: {} } }, 'certManager.issuerRef.name is required'],
  ['spec/tls', { mode: 'CertManager', certManager: { issuerRef: { name: 'My CA' } } }, 'must be the name of an object'],
  ['spec/tls', named({ allowedNames: 'Mine' }), 'must be one of Any, Own, is "Mine"'],
  ['spec/tls', named({ clientNames: ['a.example.com'] }), 'clientNames go with allowedNames Own'],
  ['spec/tls', named({ allowedNames: 'Any', clientNames: [] }), 'clientNames go with allowedNames Own'],
  ...['*.example.com', '10.0.0.7', 'fd00::1', 'A.example.com', 'a..b', 'a,b', '-a.b'].map(
    (name): Row => ['spec/tls', own(name), 'must be a DNS name, without a wildcard'],
  ),
  // Of other tenants' servers: a cluster billing in a namespace com, and its members.
  ...[
    'localhost',
    'billing',
    'billing.com',
    'billing.shop.svc',
    'billing.shop.svc.cluster.local',
    'billing-0-0.billing-peers.shop.svc',
    'a.b.cluster.local',
  ].map(
    (name): Row => ['spec/tls', own(name), 'must have three labels or more, and not end in .svc or .cluster.local'],
  ),
  ...['clients.orders.payments', 'members.orders.payments', 'x.y'].map(
    (name): Row => ['spec/tls', own(`${name}.etcd-ratchet.invalid`), 'must not be below etcd-ratchet.invalid'],
  ),
  ...['*', 'clients.orders.payments', '*.orders.payments'].map(
    (name): Row => [
      'spec/tls',
      { dnsNames: [`${name}.etcd-ratchet.invalid`] },
      'must not be below etcd-ratchet.invalid',
    ],
  ),
  ['spec/tls', own(...Array(17).fill('a.b.c')), 'must have at most 16 entries, has 17'],
  [
    'spec',
    { ...cluster.spec, etcd: { extraArgs: { 'enable-grpc-gateway': 'true' } }, tls: own() },
    "can't have enable-grpc-gateway with tls.certManager.allowedNames Own",
  ],
  ['spec/tls', { gatewayClient: 'Yes' }, 'must be one of Enabled, Disabled, is "Yes"'],
  ['spec/tls', { ...own(), gatewayClient: 'Enabled' }, 'does not go with certManager.allowedNames Own'],
  ['spec/tls', { mode: 'Disabled', gatewayClient: 'Enabled' }, 'goes with modes Managed and CertManager'],
  [
    'spec/tls',
    {
      mode: 'Provided',
      provided: { peerSecretName: 'a', serverSecretName: 'b', clientSecretName: 'c' },
      gatewayClient: 'Enabled',
    },
    'goes with modes Managed and CertManager',
  ],
  ...['false', 'F', '0'].map(
    (off): Row => [
      'spec',
      { ...cluster.spec, etcd: { extraArgs: { 'enable-grpc-gateway': off } }, tls: { gatewayClient: 'Enabled' } },
      "needs etcd's HTTP gateway: of etcd.extraArgs leave enable-grpc-gateway out",
    ],
  ),
  ['spec/auth', { users: [] }, 'spec.auth.mode is required'],
  ['spec/auth', { mode: 'On' }, 'must be one of Enabled, Disabled, is "On"'],
  ['spec/auth', { mode: 'Enabled', users: [{ name: 'root' }] }, 'must not be root: etcd-ratchet keeps that one itself'],
  ['spec/auth', { mode: 'Enabled', users: [{ name: 'orders-reconciler' }] }, 'must not end in -reconciler'],
  ['spec/auth', { mode: 'Enabled', users: [{ name: 'a.b' }] }, 'must be lower-case letters, digits and "-"'],
  ['spec/auth', { mode: 'Enabled', users: [{ name: 'a' }, { name: 'a' }] }, 'two of auth.users have one name'],
  ['spec/auth', { mode: 'Enabled', roles: [{ name: 'a' }, { name: 'a' }] }, 'two of auth.roles have one name'],
  [
    'spec/auth',
    { mode: 'Enabled', users: [{ name: 'a', roles: ['b'] }] },
    'a user has a role that auth.roles does not',
  ],
  ['spec/auth', { mode: 'Enabled', roles: [{ name: 'root' }] }, 'must not be root'],
  ['spec/auth', { mode: 'Enabled', roles: [{ name: 'a', rights: [{ prefix: '/' }] }] }, 'access is required'],
  ['spec/auth', right({ access: 'Read' }), 'name the keys in one way: prefix, key or range'],
  ['spec/auth', right({ key: '/a', prefix: '/a', access: 'Read' }), 'name the keys in one way: prefix, key or range'],
  ['spec/auth', right({ key: '', access: 'Read' }), 'must'],
  ['spec/auth', right({ range: { from: 'b', to: 'a' }, access: 'Read' }), 'to must come after from'],
  ['spec/auth', right({ prefix: 'x'.repeat(121), access: 'Read' }), 'must have at most 120 characters'],
  [
    'spec',
    { ...cluster.spec, auth: { mode: 'Enabled' }, tls: { mode: 'Disabled' } },
    'auth needs tls.mode Managed or CertManager',
  ],
  ['spec/tls', { ...named({}), peerSourceAddress: 'Any' }, 'needs certManager.peerIssuerRef, or allowedNames Own'],
  ['spec/tls', { mode: 'Provided' }, secretsMissing],
  [
    'spec/tls',
    { mode: 'Provided', provided: { peerSecretName: 'a', serverSecretName: 'b' } },
    'spec.tls.provided.clientSecretName is required',
  ],
  [
    'spec/tls',
    { mode: 'Managed', provided: { peerSecretName: 'a', serverSecretName: 'b', clientSecretName: 'c' } },
    secretsMissing,
  ],
  ['spec/tls', { mode: 'Disabled', managed: {} }, 'managed goes with mode Managed, and with no other'],
  ['spec/tls', { dnsNames: ['etcd.*.com'] }, 'must be a DNS name'],
  ...[
    'fd00::1::2',
    ':',
    'fd00:1',
    'fe80::1%eth0',
    '[fd00::1]',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    'fd00::1]/x[',
    'a:b',
  ].map((address): Row => ['spec/tls', { dnsNames: [address] }, 'or an IP address']),
  ['spec/tls', { dnsNames: [''] }, 'spec.tls.dnsNames[0]'],
  ['spec/tls', { dnsNames: Array(17).fill('a') }, 'must have at most 16 entries, has 17'],
  ['spec/tls', { certificateLifetime: '59m' }, 'from 1h to 87600h'],
  ['spec/tls', { certificateLifetime: '90d' }, 'must be a duration'],
  ['spec/tls', { managed: { authorityLifetime: '1h' } }, 'from 24h to 876000h'],
  ['spec/tls', { rotationOverlap: '0s' }, 'from 1s to 168h'],
  ['spec/tls', { key: 'abc' }, 'spec.tls.key is not a known field'],
  ['spec/tls/mode', 'disabled', 'did you mean Disabled?'],
  ['spec/image/repository', 'quay.io/coreos/etcd:v3.6.16', 'without tag or digest'],
  ['spec/image/repository', 'quay.io/coreos/etcd@sha256:00', 'without tag or digest'],
  ['spec/image/repository', 'https://quay.io/coreos/etcd', 'without tag or digest'],
  ['spec/image/repository', '', 'without tag or digest'],
  ['spec/image/digest', 'sha256:0', 'must be sha256: and 64 hexadecimal digits'],
  ['spec/image/tag', 'v3.6.16', 'spec.image.tag is not a known field'],
  ['spec/image/pullSecrets', ['pull'], 'spec.image.pullSecrets[0] must be an object, is "pull"'],
  ['spec/image/pullSecrets', Array(9).fill({ name: 'a' }), 'must have at most 8 entries, has 9'],
  ['spec/image/pullSecrets', [{ name: '' }], 'spec.image.pullSecrets[0].name must be the name of an object'],
  ['spec/etcd/quotaBackendBytes', '8Gi', 'etcd.quotaBackendBytes must be smaller than storage.size'],
  ['spec/etcd/quotaBackendBytes', '9Gi', 'etcd.quotaBackendBytes must be smaller than storage.size'],
  ['spec/etcd/quotaBackendBytes', 0, 'from 1Mi to 1Pi'],
  ['spec/etcd/quotaBackendBytes', 'much', 'must be a quantity'],
  ['spec/etcd/autoCompaction', { mode: 'hourly', retention: '1h' }, 'must be one of Periodic, Revision, is "hourly"'],
  ['spec/etcd/autoCompaction', { mode: 'Periodic' }, 'spec.etcd.autoCompaction.retention is required'],
  ['spec/etcd/autoCompaction', { mode: 'Periodic', retention: 'weekly' }, 'retention must be a duration'],
  ['spec/etcd/autoCompaction', { mode: 'Periodic', retention: 0 }, 'retention must be a duration'],
  ['spec/etcd/autoCompaction', { mode: 'Revision', retention: '1h' }, 'a number of revisions (Revision)'],
  ['spec/etcd/heartbeatInterval', 100, 'spec.etcd.heartbeatInterval must be a string, is 100: put it in quotes'],
  ['spec/etcd/heartbeatInterval', '100', 'must be a duration like 100ms'],
  ['spec/etcd/heartbeatInterval', '0ms', 'from 1ms to 10s'],
  ['spec/etcd/heartbeatInterval', '-1ms', 'must be a duration'],
  ['spec/etcd/heartbeatInterval', '1.5ms', 'must be in whole milliseconds'],
  ['spec/etcd/heartbeatInterval', '1500us', 'must be in whole milliseconds'],
  ['spec/etcd/heartbeatInterval', '500ms', 'at least five times heartbeatInterval'],
  ['spec/etcd/electionTimeout', '400ms', 'at least five times heartbeatInterval'],
  ['spec/etcd/electionTimeout', '51s', 'to 50s'],
  ['spec/etcd/electionTimeout', '9999999h', 'must be a duration'],
  ['spec/etcd/electionTimeout', '99999999999999999999h', 'must have at most 16 characters'],
  ['spec/etcd/electionTimeout', '999999h999999h9h', 'to 50s'],
  ['spec/etcd/snapshotCount', 0, 'spec.etcd.snapshotCount must be at least 1, is 0'],
  ['spec/etcd/snapshotCount', '10000', 'must be an integer, is "10000"'],
  ['spec/etcd/extraArgs', { 'max-txn-ops': 1024 }, 'must be a string, is 1024: put it in quotes'],
  ['spec/etcd/extraArgs', { 'max-txn-ops': null }, 'must be a string, is empty', 'later'],
  ['spec/etcd/extraArgs', { '--max-txn-ops': '1' }, 'named like flags of etcd without the dashes'],
  ['spec/etcd/extraArgs', { 'data-dir': '/tmp' }, 'data-dir: it lies on the volume'],
  ['spec/etcd/extraArgs', { 'initial-cluster-state': 'new' }, 'bootstrap is recorded once and sealed'],
  ['spec/etcd/extraArgs', { 'listen-peer-urls': 'x' }, 'addresses follow the Services'],
  ['spec/etcd/extraArgs', { 'force-new-cluster': 'true' }, 'it belongs to an approved recovery'],
  ['spec/etcd/extraArgs', { 'peer-auto-tls': 'true' }, 'follow spec.tls as a whole'],
  ['spec/etcd/extraArgs', { 'unsafe-no-fsync': 'true' }, 'acknowledged writes would be lost'],
  ['spec/etcd/extraArgs', { 'heartbeat-interval': '100' }, 'use spec.etcd.heartbeatInterval'],
  ['spec/etcd/extraArgs', { 'feature-gates': 'LeaseCheckpoint=true' }, 'use spec.etcd.featureGates'],
  ['spec/etcd/extraArgs', { 'experimental-enable-lease-checkpoint': 'true' }, 'use spec.etcd.featureGates'],
  ['spec/etcd/extraArgs', { 'peer-skip-client-san-verification': 'true' }, 'use spec.tls.peerSourceAddress'],
  ['spec/etcd/extraArgs', { 'client-crl-file': '/tmp/x' }, 'use spec.tls.revokedClientSerials'],
  ['spec/tls', { revokedClientSerials: ['0x0A'] }, 'must be a serial number like 4F:0A:91, in hexadecimal'],
  ['spec/tls', { revokedClientSerials: ['4F:0A:'] }, 'must be a serial number like 4F:0A:91, in hexadecimal'],
  ['spec/tls', { revokedClientSerials: ['0A'.repeat(21)] }, 'must be a serial number like 4F:0A:91, in hexadecimal'],
  ['spec/tls', { mode: 'Disabled', revokedClientSerials: [] }, 'revokedClientSerials needs certificates'],
  ['spec/etcd/featureGates', { 'lease-checkpoint': true }, 'must be named like feature gates of etcd'],
  ['spec/etcd/featureGates', { CompactHashCheck: false }, 'the corruption checks are set for you'],
  ['spec/etcd/featureGates', { LeaseCheckpointPersist: true }, 'LeaseCheckpointPersist needs LeaseCheckpoint'],
  ['spec/resources/limits', { memory: 'lots' }, 'spec.resources.limits.memory must be a quantity'],
  ['spec/resources/limits', { memory: '-1Gi' }, 'must be a quantity like 8Gi, not negative'],
  ['spec/resources/limits', { cpu: -1 }, 'must be a quantity like 8Gi, not negative'],
  ['spec/resources/limits', { mem: '1Gi' }, 'must name resources: cpu, memory'],
  ['spec/resources', { limits: { cpu: 1 }, requests: { cpu: '1500m' } }, 'a request must not be larger than its limit'],
  [
    'spec/resources',
    { limits: { 'ephemeral-storage': '1Gi' }, requests: { 'ephemeral-storage': 1073741825 } },
    'a request must not be larger than its limit',
  ],
  ['spec/podTemplate/spec', { hostNetwork: true }, "hostNetwork: it enters the node's namespaces", 'later'],
  ['spec/podTemplate/spec', { hostPID: true }, 'hostPID', 'later'],
  ['spec/podTemplate/spec', { hostIPC: true }, 'hostIPC', 'later'],
  ['spec/podTemplate/spec', { serviceAccountName: 'admin' }, 'another service account', 'later'],
  ['spec/podTemplate/spec', { volumes: [{ name: 'a', hostPath: { path: '/' } }] }, "the node's files", 'later'],
  [
    'spec/podTemplate/spec',
    { containers: [{ name: 'etcd', securityContext: { privileged: true } }] },
    'spec.containers[0].securityContext.privileged',
    'later',
  ],
  [
    'spec/podTemplate/spec',
    { initContainers: [{ name: 'a', ports: [{ containerPort: 1, hostPort: 1 }] }] },
    'it takes a port of the node',
    'later',
  ],
  ['spec/podTemplate/spec', 'none', 'spec.podTemplate.spec must be an object, is "none"'],
  ['spec/healing/mode', 'manual', 'must be one of Automatic, Manual, is "manual"'],
  ['spec/healing/mode', 'Manual ', 'must be one of Automatic, Manual, is "Manual "'],
  ['spec/healing/mode', '\u041canual', 'must be one of Automatic, Manual'],
  ['spec/healing/mode', 'Manual'.repeat(2000), 'must be one of Automatic, Manual'],
  ['spec/healing/mode', '', 'must be one of Automatic, Manual'],
  ['spec/healing/mode', true, 'must be one of Automatic, Manual, is true'],
  ['spec/healing/mode', ['Manual'], 'must be one of Automatic, Manual'],
  ['spec/healing/mode', { mode: 'Manual' }, 'must be one of Automatic, Manual'],
  ['spec/healing/podGracePeriod', 'soon', 'must be a duration'],
  ['spec/healing/podGracePeriod', '0s', 'from 1s to 168h'],
  ['spec/healing/memberGracePeriod', '1m', 'memberGracePeriod must not be shorter than podGracePeriod'],
  ['spec/healing/podGracePeriod', '11m', 'memberGracePeriod must not be shorter than podGracePeriod'],
  ['spec/defragmentation/mode', false, 'must be one of Enabled, Disabled, is false'],
  ['spec/defragmentation/maxUsedPercent', 101, 'spec.defragmentation.maxUsedPercent must be at most 100, is 101'],
  ['spec/defragmentation/maxUsedPercent', -1, 'must be at least 0, is -1'],
  ['spec/defragmentation/maxUsedPercent', 0.5, 'must be an integer, is 0.5'],
  ['spec/defragmentation/maxUsedPercent', '50%', 'must be an integer, is "50%"'],
  ['spec/defragmentation/minReclaim', '-1Mi', 'not negative'],
  ['spec/volumeRetention/whenDeleted', 'Keep', 'must be one of Retain, Delete, is "Keep"'],
  ['spec/disruption/whenQuorumIsLost', 'Maybe', 'must be one of Refuse, Allow, is "Maybe"'],
  ['spec/networkPolicy/mode', 'Enable', 'must be one of Enabled, Disabled, is "Enable"'],
  ['spec/networkPolicy/clients', [{}], 'must have podSelector, namespaceSelector or both; or ipBlock alone'],
  [
    'spec/networkPolicy/clients',
    [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }],
    'must have podSelector, namespaceSelector or both; or ipBlock alone',
  ],
  ['spec/networkPolicy/clients', [{ ipBlock: { cidr: '10.0.0.0' } }], 'must be a block of IP addresses'],
  ['spec/networkPolicy/clients', [{ ipBlock: { cidr: '10.0.0.0/33' } }], 'must be a block of IP addresses'],
  ['spec/networkPolicy/clients', [{ ipBlock: { cidr: '010.0.0.0/8' } }], 'must be a block of IP addresses'],
  ['spec/networkPolicy/clients', [{ ipBlock: { cidr: '10.0.0.0/08' } }], 'must be a block of IP addresses'],
  ['spec/networkPolicy/clients', [{ ipBlock: { cidr: 'fd00::/129' } }], 'must be a block of IP addresses'],
  ['spec/networkPolicy/clients', [{ ipBlock: { cidr: '::ffff:10.0.0.0/104' } }], 'must be a block of IP addresses'],
  ['spec/networkPolicy/clients', [{ ipBlock: { cidr: 'fe80::1%a/64' } }], 'must be a block of IP addresses'],
  ['spec/networkPolicy/clients', [{ podSelector: { app: 'a' } }], 'is not a known field'],
  ['spec/networkPolicy/clients', [{ podSelector: { matchLabels: { app: 'a b' } } }], 'must be the value of a label'],
  [
    'spec/networkPolicy/monitoring',
    [{ podSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }],
    'In and NotIn take values',
  ],
  [
    'spec/networkPolicy/monitoring',
    [{ podSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } }],
    'In and NotIn take values',
  ],
  [
    'spec/networkPolicy/monitoring',
    [{ podSelector: { matchExpressions: [{ key: '-a', operator: 'Exists' }] } }],
    'must be the key of a label',
  ],
  ['metadata/name', 'orders-external', 'metadata.name must not end in -external'],
  ['spec/service', {}, 'spec.service.type is required'],
  ['spec/service', true, 'spec.service must be an object, is true'],
  ['spec/service', { type: 'Loadbalancer' }, 'did you mean LoadBalancer?'],
  ['spec/service', { type: 'ExternalName' }, 'must be one of ClusterIP, NodePort, LoadBalancer'],
  ['spec/service', { type: 'NodePort', loadBalancerClass: 'a' }, 'go with type LoadBalancer'],
  ['spec/service', { type: 'NodePort', loadBalancerSourceRanges: ['10.0.0.0/8'] }, 'go with type LoadBalancer'],
  ['spec/service', { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.1/8'] }, 'no bits set beyond its prefix'],
  [
    'spec/service',
    { type: 'LoadBalancer', loadBalancerSourceRanges: ['example.com'] },
    'must be a block of IP addresses',
  ],
  [
    'spec/service',
    { type: 'LoadBalancer', loadBalancerSourceRanges: Array(65).fill('10.0.0.0/8') },
    'at most 64 entries',
  ],
  ['spec/service', { type: 'LoadBalancer', loadBalancerClass: 'a b' }, 'must be a class like service.k8s.aws/nlb'],
  ['spec/service', { type: 'ClusterIP', nodePort: 32379 }, 'go with type NodePort or LoadBalancer'],
  ['spec/service', { type: 'ClusterIP', externalTrafficPolicy: 'Local' }, 'go with type NodePort or LoadBalancer'],
  ['spec/service', { type: 'NodePort', nodePort: 0 }, 'must be at least 1, is 0'],
  ['spec/service', { type: 'NodePort', nodePort: 65_536 }, 'must be at most 65535'],
  ['spec/service', { type: 'NodePort', nodePort: '32379' }, 'must be an integer'],
  ['spec/service', { type: 'NodePort', externalIPs: ['10.0.0.1'] }, 'spec.service.externalIPs is not a known field'],
  ...['etcd.ratchet.dev/inputs-hash', 'ratchet.dev/a', 'app.kubernetes.io/name', 'a b', 'ä', '-a', 'a/b/c', ''].map(
    (key): Row => [
      'spec/service',
      { type: 'NodePort', annotations: { [key]: 'x' } },
      'must have keys like example.com/',
    ],
  ),
  [
    'spec/service',
    { type: 'NodePort', labels: { 'etcd.ratchet.dev/cluster': 'b' } },
    'must have keys like example.com/',
  ],
  ['spec/service', { type: 'NodePort', labels: { a: 'b c' } }, 'must be the value of a label'],
  ['spec/service', { type: 'NodePort', annotations: { a: 'x'.repeat(1025) } }, 'must have at most 1024 characters'],
  [
    'spec',
    { ...cluster.spec, tls: { mode: 'Disabled' }, service: { type: 'NodePort' } },
    'service of type NodePort or LoadBalancer takes TLS',
  ],
  ['spec/volumeRetention/whenScaled', true, 'must be one of Retain, Delete, is true'],
  ['spec/volumeRetention/whenReplaced/policy', 'Keep', 'must be one of Retain, Delete, is "Keep"'],
  ['spec/volumeRetention/whenReplaced/keepFor', '9000h', 'from 0s to 8760h'],
  ['spec/defragmentation/maxUsedRatio', 0.5, 'is not a known field: its name is now defragmentation.maxUsedPercent'],
  ['spec/tls/authorityLifetime', '8760h', 'its name is now tls.managed.authorityLifetime'],
  [
    'spec/tls',
    { mode: 'CertManager', certManager: { issuerRef: { name: 'ca' } }, peerIssuerRef: { name: 'ca' } },
    'spec.tls.peerIssuerRef is not a known field: its name is now tls.certManager.peerIssuerRef',
  ],
  ['spec/tls/serverSecretName', 'a', 'its name is now tls.provided.serverSecretName'],
  ['spec/etcd/autoCompaction', { mode: 'periodic', retention: '1h' }, 'did you mean Periodic?'],
  ['spec/suspend', 'yes', 'spec.suspend must be true or false, is "yes"'],
  ['spec/relpicas', 3, 'spec.relpicas is not a known field; did you mean replicas?'],
  ['spec/constructor', 3, 'spec.constructor is not a known field'],
  ['sepc', {}, 'sepc is not a known field; did you mean spec?'],
]);

const ssh = 'SSH is not supported, use HTTPS';
const url = 'must be an http(s):// URL without credentials';

const canary = { name: 'canary', matchLabels: { stage: 'canary' } };

export const badFleets = rows('a fleet', fleet, [
  ['metadata/name', 'x'.repeat(46), 'metadata.name must be at most 45 characters'],
  ['metadata/name', 'a.b', 'metadata.name must be lower-case letters'],
  ['spec/git', undefined, 'spec.git is required'],
  ['spec/git/url', undefined, 'spec.git.url is required'],
  ['spec/git/url', 'git@git.example.com:platform/etcd.git', ssh],
  ['spec/git/url', 'ssh://git@git.example.com/platform/etcd.git', ssh],
  ['spec/git/url', 'git+ssh://git.example.com/platform/etcd.git', ssh],
  ['spec/git/url', 'https://user:hunter2@git.example.com/a.git', url],
  ['spec/git/url', 'https://git.example.com/a.git?token=hunter2', url],
  ['spec/git/url', 'file:///etc', url],
  ['spec/git/url', 'https://', url],
  ['spec/git/url', 'https://git.example.com/a b', url],
  ['spec/git/url', '', url],
  ['spec/git/ref', undefined, 'spec.git.ref is required'],
  ['spec/git/ref', '', 'must be a branch, a tag'],
  ['spec/git/ref', 'a b', 'must be a branch, a tag'],
  ['spec/git/ref', '--upload-pack=x', 'must be a branch, a tag'],
  ['spec/git/ref', 'a..b', 'must be a branch, a tag'],
  ['spec/git/ref', 'a\\b', 'must be a branch, a tag'],
  ['spec/git/ref', 'a[b', 'must be a branch, a tag'],
  ['spec/git/ref', 'main.lock', 'must be a branch, a tag'],
  ['spec/git/ref', 1.0, 'spec.git.ref must be a string, is 1: put it in quotes'],
  ['spec/git/path', '/clusters', 'must be a directory of the repository'],
  ['spec/git/path', '../other', 'must be a directory of the repository'],
  ['spec/git/path', 'a/../..', 'must be a directory of the repository'],
  ['spec/git/path', 'a\\b', 'must be a directory of the repository'],
  ['spec/git/path', '', 'must be a directory of the repository'],
  ['spec/git/secretName', 'not_a_name', 'spec.git.secretName must be the name of an object'],
  ['spec/forge', { type: 'Github', secretName: 'a' }, 'did you mean GitHub?'],
  ['spec/forge', { type: 'GitHub' }, 'spec.forge.secretName is required'],
  ['spec/forge', { type: 'GitHub', secretName: 'a', apiURL: 'api.github.com' }, url],
  ['spec/forge', { type: 'GitHub', secretName: 'a', apiUrl: 'https://a' }, 'its name is now forge.apiURL'],
  ['spec/checks', { comment: true }, 'its name is now checks.comments: Enabled for true'],
  ['spec/checks', { comments: true }, 'must be one of Enabled, Disabled, is true'],
  ['spec/serviceAccountName', 'Fleet', 'spec.serviceAccountName must be the name of an object'],
  ['spec/serviceAccountName', 'etcd-ratchet', 'spec.serviceAccountName must not be an account of etcd-ratchet itself'],
  ['spec/serviceAccountName', 'etcd-ratchet-page', 'spec.serviceAccountName must not be an account of etcd-ratchet'],
  ['spec/prune', 'true', 'spec.prune must be true or false, is "true"'],
  ['spec/maxClustersInProgress', 0, 'must be a number from 1 on or a percentage'],
  ['spec/maxClustersInProgress', '0%', 'must be a number from 1 on or a percentage'],
  ['spec/maxClustersInProgress', '101%', 'must be a number from 1 on or a percentage'],
  ['spec/maxClustersInProgress', 1.5, 'must be a string or an integer'],
  ['spec/rollout', { stages: [] }, 'spec.rollout.stages must have at least one stage'],
  ['spec/rollout', { stages: [canary, canary] }, 'each with another name'],
  ['spec/rollout', { stages: [{ name: 'a' }] }, 'spec.rollout.stages[0].matchLabels is required'],
  ['spec/rollout', { stages: [{ ...canary, matchLabels: {} }] }, 'must name at least one label'],
  ['spec/rollout', { stages: [{ ...canary, matchLabels: { 'a b': 'c' } }] }, 'must have keys of labels'],
  ['spec/rollout', { stages: [{ ...canary, maxClustersInProgress: 0 }] }, 'must be a number from 1 on or a percentage'],
  ['spec/rollout', { stages: [{ ...canary, soak: '5s' }] }, 'spec.rollout.stages[0].soak must be'],
  ['spec/rollout', { stages: [{ ...canary, name: 'The First' }] }, 'must be the name of an object'],
  ['spec/git/password', 'hunter2', 'spec.git.password is not a known field'],
]);

export const badPeers = rows('a peer', peer, [
  ['metadata/name', 'orders-1', 'metadata.name must be <spec.clusterName>-<spec.ordinal>'],
  ['metadata/name', 'other-0', 'metadata.name must be <spec.clusterName>-<spec.ordinal>'],
  ['spec/ordinal', -1, 'must be at least 0'],
  ['spec/bootstrap/state', 'new', 'did you mean New?'],
  ['spec/bootstrap/token', '', 'spec.bootstrap.token must not be empty'],
  ['spec/tls', undefined, 'spec.tls is required'],
  ['spec/tls', {}, 'spec.tls.mode is required'],
  ['spec/version', 'latest', 'must be a version like 3.6.16'],
]);

const noObject = 'must be the name of an object like gs://bucket/';
const oneOf = 'either clusterName or source, not both';

const ofOurs = 'must not set labels of etcd.ratchet.dev';

const badBackups = rows('a backup', backup, [
  ['spec/podTemplate', { metadata: { labels: { 'etcd.ratchet.dev/cluster': 'orders' } } }, ofOurs],
  ['spec/podTemplate', { metadata: { labels: { 'app.kubernetes.io/name': 'etcd' } } }, ofOurs],
  [
    'spec/podTemplate',
    { metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/agent': 'unconfined' } } },
    'pods of backups are confined',
  ],
  ['spec/podTemplate', { spec: { containers: [] } }, 'spec.podTemplate.spec.containers is not a known field'],
  ['spec/podTemplate', { spec: { nodeName: 'node-1' } }, 'spec.podTemplate.spec.nodeName is not a known field'],
  ['spec/podTemplate', { spec: { tolerations: [{ effect: 'Any' }] } }, 'NoSchedule'],
  ['spec/podTemplate', { users: 'Root' }, 'OfPlatform'],
  ['spec/podTemplate', { spec: { tolerations: [{ operator: 'Exists' }] } }, 'tolerations[0].key is required'],
  [
    'spec/podTemplate',
    { spec: { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] } },
    'keeps off nodes that are cordoned',
  ],
  ['spec/podTemplate', { spec: { affinity: { podAntiAffinity: {} } } }, 'podAntiAffinity is not a known field'],
  ['metadata/name', 'x'.repeat(53), 'metadata.name must be at most 52 characters'],
  ['metadata/name', 'a.b', 'metadata.name must be at most 52 characters'],
  ['spec/clusterName', undefined, oneOf],
  ['spec/source', { endpoints: ['https://10.0.0.1:2379'] }, oneOf],
  ['spec/to', undefined, 'spec.to is required'],
  ['spec/to/object', undefined, 'spec.to.object is required'],
  ...[
    'orders.db',
    'ftp://bucket/orders.db',
    'gs://bucket',
    'gs://bucket/',
    'gs://bucket//a.db',
    'gs://bucket/a/../b.db',
    'gs://bucket/./b.db',
    'gs://b..b/a.db',
    'gs://{{namespace}}/a.db',
    'gs://bucket/{{bucket}}.db',
    'gs://bucket/{{timestamp}.db',
    'gs://bucket/a b.db',
    'gs://bucket/a.json',
    'gs://bucket/a.db.verified.json',
    'gs://bucket/.partial-a/b.db',
    'gs://bucket/a.db?x=y',
    'gs://bucket/a\n',
    's3://under_score/a.db',
    'pvc://-x/a.db',
  ].map((name): Row => ['spec/to/object', name, noObject]),
  ['spec/to/object', `gs://bucket/${'x'.repeat(1013)}`, 'must have at most 1024 characters'],
  ['spec/to/object', `pvc://backups/${'x'.repeat(230)}.db`, 'at most 224 fit', 'later'],
  ['spec/to/s3', { region: 'eu-central-1' }, 's3 with s3:// objects'],
  ['spec/to/gcs', {}, 's3 with s3:// objects'],
  ['spec/to/compression', 'zstd', 'did you mean Zstd?'],
  ['spec/to/gcs/anonymous', true, 'its name is now gcs.authentication: Anonymous for true'],
  ['spec/to/s3/pathStyle', true, 'its name is now s3.addressing: Path for true'],
  ['spec/to/encryption', { recipientsSecretName: 'a' }, 'verify: Restore takes the private key, too'],
  ['spec/to/encryption', { recipientsSecretName: 'A_b' }, 'must be the name of an object'],
  ['spec/to/serviceAccountName', 'Not This', 'must be the name of an object'],
  ['spec/to/caBundle', { key: 'ca.crt' }, 'either secretName or configMapName'],
  ['spec/to/caBundle', { secretName: 'a', configMapName: 'b' }, 'either secretName or configMapName'],
  ['spec/to/caBundle', { secretName: 'a', key: '../token' }, 'must be a key of a Secret or ConfigMap'],
  ['spec/verify', 'restore', 'did you mean Restore?'],
  ['spec/deadline', '10s', 'from 1m to 167h'],
  ['spec/scratch', { size: '1Ki' }, 'from 64Mi to 1Pi'],
  ['spec/to/namespace', 'other', 'spec.to.namespace is not a known field'],
  ['spec/existing', { sha256: 'f'.repeat(64) }, 'existing goes with clusterName, and with the whole name of an object'],
]);

const adopting = {
  ...cluster,
  spec: {
    ...cluster.spec,
    tls: { mode: 'Disabled' },
    bootstrap: { existing: { clusterID: 'cdf8', memberIDs: ['8e9e', '91bc'], podLabels: { app: 'old' } } },
  },
};
const adopted = 'spec/bootstrap/existing';
const badAdoptions = rows('a cluster that takes over', adopting, [
  [`${adopted}/clusterID`, undefined, 'spec.bootstrap.existing.clusterID is required'],
  [`${adopted}/clusterID`, '', 'must be an ID of etcd'],
  [`${adopted}/clusterID`, 1234, 'must be a string'],
  [`${adopted}/clusterID`, '14841639068965178418', 'must have at most 16 characters'],
  [`${adopted}/clusterID`, '0cdf8', 'without leading zeros'],
  [`${adopted}/clusterID`, 'CDF8', 'lower-case hexadecimal digits'],
  [`${adopted}/clusterID`, '１２３', 'must be an ID of etcd'],
  [`${adopted}/memberIDs`, undefined, 'spec.bootstrap.existing.memberIDs is required'],
  [`${adopted}/memberIDs`, [], 'must have at least 1 entry'],
  [`${adopted}/memberIDs`, ['8e9e', '8e9e'], 'must name each member once'],
  [`${adopted}/memberIDs`, Array.from({ length: 10 }, (_, n) => `a${n}`), 'must have at most 9 entries'],
  [`${adopted}/memberIDs`, ['8e9e\n'], 'must be an ID of etcd'],
  [`${adopted}/memberIDs`, [{ id: '8e9e' }], 'must be a string'],
  [`${adopted}/podLabels`, {}, 'must have a label at least'],
  [`${adopted}/podLabels`, 'app=old', 'must be an object'],
  [`${adopted}/clientPort`, 0, 'must be at least 1'],
  [`${adopted}/clientPort`, 65_536, 'must be at most 65535'],
  [`${adopted}/serverName`, '*.old.default.svc', 'must be a DNS name in lower case'],
  [`${adopted}/endpoints`, ['http://169.254.169.254'], 'endpoints is not a known field'],
]);
const existing = {
  ...backup,
  spec: { ...backup.spec, to: { object: 'pvc://backups/a.db' }, existing: { sha256: 'f'.repeat(64) } },
};
const badExisting = rows('a look for an existing backup', existing, [
  ['spec/existing/sha256', 'F'.repeat(64), 'must be a sha256 in 64 lower-case hexadecimal digits'],
  ['spec/existing/sha256', 'f'.repeat(65), 'must have at most 64 characters'],
  ['spec/existing/sha256', undefined, 'spec.existing.sha256 is required'],
  ['spec/existing', {}, 'spec.existing.sha256 is required'],
  ['spec/existing/sha-256', 'f'.repeat(64), 'spec.existing.sha-256 is not a known field'],
  ['spec/to/object', 'pvc://backups/{{name}}.db', 'existing goes with clusterName, and with the whole name'],
]);

const badSources = rows('a backup of another etcd', fullBackup, [
  ['spec/source/endpoints', [], 'list at least one client URL of etcd'],
  ['spec/source/endpoints', ['https://user:hunter2@10.0.0.1:2379'], 'must be a client URL of etcd'],
  ['spec/source/endpoints', ['10.0.0.1:2379'], 'must be a client URL of etcd'],
  ['spec/source/endpoints', ['https://listed.example?x.others.example'], 'must be a client URL of etcd'],
  ['spec/source/endpoints', ['https://listed.example\\.others.example:2379'], 'must be a client URL of etcd'],
  ['spec/to/object', 's3://bucket/{{cluster}}.db', '{{cluster}} in to.object takes clusterName'],
  ['spec/to/s3/endpoint', 'https://a:b@s3.example.com', url],
  ['spec/to/s3/region', 'eu central', 'must be the name of a region'],
]);

const badSchedules = rows('a schedule', schedule, [
  ['metadata/name', 'x'.repeat(40), 'metadata.name must be at most 39 characters'],
  ['spec/schedule', undefined, 'spec.schedule is required'],
  ...[
    '',
    '* * * *',
    '0 0 0 * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * * 8',
  ].map((text): Row => ['spec/schedule', text, text === '' ? 'must not be empty' : 'must be a cron expression']),
  ...[
    '0 0 * JAM *',
    '*/0 * * * *',
    '*/99 * * * *',
    '5/10 * * * *',
    '@dayly',
    '@every 6h',
    'TZ=UTC 0 0 * * *',
    '0 0 L * *',
  ].map((text): Row => ['spec/schedule', text, 'must be a cron expression']),
  ['spec/schedule', '0 0 * JAM *', 'did you mean JAN?'],
  ['spec/schedule', '0 0 * * *\n', 'must be a cron expression'],
  ['spec/schedule', `${'1,'.repeat(130)}1 * * * *`, 'must have at most 256 characters'],
  ['spec/schedule', '0 22-2 * * *', 'write two ranges, like 22-23,0-2', 'later'],
  ['spec/schedule', '0 0 30 2 *', 'it is never due', 'later'],
  ['spec/timeZone', '+02:00', 'must be a time zone'],
  ['spec/timeZone', '../etc/passwd', 'must be a time zone'],
  ['spec/timeZone', 'Europe/Berln', 'did you mean Europe/Berlin?', 'later'],
  ['spec/startingDeadline', '1s', 'from 10s to 8760h'],
  ['spec/concurrencyPolicy', 'forbid', 'did you mean Forbid?'],
  ['spec/retention', {}, 'keeps nothing'],
  ['spec/retention', { last: 0, mode: 'DryRun' }, 'keeps nothing'],
  ['spec/retention', { last: 1, dryRun: true }, 'its name is now retention.mode: DryRun for true'],
  ['spec/retention', { last: -1 }, 'must be at least 0'],
  ['spec/retention', { dayly: 7 }, 'did you mean daily?'],
  ['spec/maxAge', '10s', 'from 1m to 8760h'],
  ['spec/history', { good: 0 }, 'must be at least 1'],
  ['spec/template', undefined, 'spec.template is required'],
  ['spec/template/clusterName', undefined, oneOf],
  ['spec/template/to/object', 'gs://bucket/{{cluster}}.db', 'gives all backups one name'],
  ['spec/template/to/object', 'gs://bucket', noObject],
  ['spec/template/schedule', '@daily', 'spec.template.schedule is not a known field'],
]);

const badRestores = [
  ...rows('a restore', restore, [
    ['spec/backupName', undefined, 'either backupName or from'],
    ['spec/cluster/spec/bootstrap', { snapshot: { object: 'gs://backups/a.db' } }, 'leave it out'],
    ['spec/cluster/spec/rollback', { clusterID: 'a1', snapshot: { object: 'gs://backups/a.db' } }, 'leave it out'],
    ['spec/cluster/name', undefined, 'spec.cluster.name is required'],
    ['spec/cluster/spec/version', '3.4.1', 'must be a version of etcd'],
  ]),
  ...rows('a restore by object', fullRestore, [
    ['spec/backupName', 'orders-1', 'either backupName or from'],
    ['spec/from/object', 'gs://backups/{{timestamp}}.db', 'must be the whole name of an object'],
    ['spec/from/object', 'gs://backups/a.db', 's3 with s3:// objects'],
    ...[
      '',
      'f'.repeat(63),
      'F'.repeat(64),
      `sha256:${'f'.repeat(57)}`,
      `${'f'.repeat(63)}\n`,
      `${'f'.repeat(63)}ｆ`,
      `${'f'.repeat(63)}١`,
      ' '.repeat(64),
    ].map((text): Row => ['spec/from/sha256', text, 'must be a sha256 in 64 lower-case hexadecimal digits']),
    ['spec/from/sha256', 'f'.repeat(65), 'must have at most 64 characters'],
    ['spec/from/sha256', 12, 'must be a string'],
    ['spec/from/sha256', ['f'.repeat(64)], 'must be a string'],
    ['spec/from/revision', 0, 'must be at least 1'],
    ['spec/from/revision', '12', 'must be an integer'],
    ['spec/from/revision', 1.5, 'must be an integer'],
    ['spec/from/sha265', 'f'.repeat(64), 'did you mean sha256?'],
  ]),
];

const badNodePolicies = rows('a node policy', fullNodePolicy, [
  ['metadata/name', 'x'.repeat(64), 'metadata.name must be at most 63 characters'],
  ['spec/nodeSelector', undefined, 'spec.nodeSelector is required'],
  ['spec/nodeSelector', { pool: 7 }, 'must be a string'],
  ...[0, -1, '0%', '101%', '1.5', '10000', '%', 'all'].map(
    (value): Row => ['spec/maxUnavailable', value, 'from 1 to 9999'],
  ),
  ['spec/windows/0/start', '0 25 * * *', 'must be a cron expression'],
  ['spec/windows/0/start', '0 0 30 2 *', 'it is never due', 'later'],
  ['spec/windows/0/duration', '1m', 'from 10m to 168h'],
  ['spec/windows/0/duration', 'forever', 'must be a duration'],
  ['spec/windows/0/timeZone', 'Mars/Olympus', 'is not known', 'later'],
  ['spec/windows/0/timeZone', '+02:00', 'must be a time zone'],
  ['spec/allowDowntimeOf', ['orders'], 'must be the namespace and the name'],
  ['spec/drain/timeout', '25h', 'from 1m to 24h'],
  ['spec/drain/unmanagedPods', 'Lose', 'must be one of'],
  ['spec/reboot', { method: 'DBus', command: ['reboot'] }, 'command belongs to method Command'],
  ['spec/reboot', { method: 'Command' }, 'command belongs to method Command'],
  ['spec/reboot', { command: ['reboot'] }, 'command belongs to method Command'],
  ['spec/reboot/command', [''], 'must not be empty'],
  ['spec/blockedBy', [{}], 'labels is required'],
  ...['', 'a b', '/zone', 'zone/', 'ä', 'x'.repeat(64), '$(id)'].map(
    (value): Row => ['spec/groupLabel', value, 'must be the key of a label'],
  ),
  ['spec/blockedByAlerts', {}, 'url is required'],
  ...[
    ...['', 'prometheus:9090', 'ftp://prometheus', 'http://', 'http://me:pw@prometheus', 'http://prometheus?q=1'],
    ...['http://prometheus#x', 'http://prometheus/a b', 'http://prometheus\nx', 'https://прометей'],
  ].map((value): Row => ['spec/blockedByAlerts/url', value, 'without credentials, query or fragment']),
  ['spec/blockedByAlerts/url', `http://${'x'.repeat(1018)}`, 'at most 1024 characters'],
  ['spec/blockedByAlerts/labels', { severity: 1 }, 'must be a string'],
  ['spec/blockedByAlerts/ignore', [''], 'must not be empty'],
  ['spec/blockedByAlerts/ignore', 'Watchdog', 'must be a list'],
  ...['', '/', '/reboot-required', 'var/run/x', '/var/../x', '/var/./x', '/var//x', '/var/run/', '/var/run/x\n'].map(
    (value): Row => ['spec/sentinel/path', value, 'must be the path of a file below a directory'],
  ),
  ['spec/sentinel/every', '9m', 'from 10m to 168h'],
  ['spec/kured/namespace', 'Kube System', 'must be the name of an object'],
  ['spec/kured/daemonSet', '', 'must be the name of an object'],
  ['spec/skipDrain', 'yes', 'must be true or false'],
]);

export const badDocuments: readonly BadDocument[] = [
  ...badClusters,
  ...badFleets,
  ...badPeers,
  ...badBackups,
  ...badExisting,
  ...badAdoptions,
  ...badSources,
  ...badSchedules,
  ...badRestores,
  ...badNodePolicies,
];
