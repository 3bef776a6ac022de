import Type, { type Static } from 'typebox';
import { dnsLabel, durationBetween, objectName } from './common-rules.ts';
import { longestDurationText } from './duration.ts';
import { type CustomResource, conditionsSchema } from './metadata.ts';
import { isKey } from './network-policy.ts';
import { celEscape, matching, type Rule, rule } from './rule.ts';
import {
  int32,
  int64,
  intOrString,
  keepsDefault,
  list,
  object,
  type ReadonlyDeep,
  stringMap,
  text,
  time,
} from './schema.ts';
import { nodePolicyDefaults } from './spec-defaults.ts';
import { observedGeneration } from './status-fields.ts';
import { windowsSchema } from './windows.ts';

/** Nodes that are rebooted one after the other, and etcd is asked first. */

const countPattern = '^([1-9][0-9]{0,3}|[1-9][0-9]?%|100%)$';

const isCount = rule<number | string>({
  message: 'must be a number from 1 to 9999, or a percentage from 1% to 100%',
  cel: `string(self).matches('${celEscape(countPattern)}')`,
  holds: (value) => new RegExp(countPattern).test(String(value)),
});

const clusterName = matching(
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  'must be the namespace and the name of an EtcdCluster, like payments/orders',
);

const plainUrl = matching(
  '^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$',
  'must be an http(s):// URL without credentials, query or fragment, like http://prometheus.monitoring:9090',
  { hidesValue: true },
);

const alertsSchema = object(
  {
    url: text(1024, { rules: [plainUrl], description: 'Of the Prometheus: its /api/v1/alerts is asked.' }),
    labels: Type.Optional(
      stringMap({ description: 'Only alerts with all of these labels count, like severity: critical. Absent: all.' }),
    ),
    ignore: Type.Optional(
      list(text(100, { minLength: 1 }), 100, {
        description: 'Names of alerts that do not count, like Watchdog, which is always firing.',
      }),
    ),
  },
  {
    description:
      'No node begins while one of these alerts is firing in Prometheus, or while that can not be asked. One that has begun goes on.',
  },
);

/** Two parts at least: what is mounted is the directory, and never all of the host. */
const sentinelPath = matching(
  '^(/[A-Za-z0-9_-][A-Za-z0-9._-]*){2,16}$',
  'must be the path of a file below a directory, like /var/run/reboot-required, without ".."',
);

const sentinelSchema = object(
  {
    path: Type.Optional(
      text(255, {
        default: nodePolicyDefaults.sentinel.path,
        description: 'The file. One that is older than the boot that runs does not count.',
        rules: [sentinelPath],
      }),
    ),
    every: Type.Optional(
      text(longestDurationText, {
        default: nodePolicyDefaults.sentinel.every,
        description: 'How often each node is looked at.',
        rules: [durationBetween('10m', '168h')],
      }),
    ),
  },
  {
    description:
      'Looks on each node for a file that says that it needs a reboot: by a short Job without rights, which sees the directory of that file, read-only. Absent: reboots are asked for by annotation alone.',
  },
);

const kuredSchema = object(
  {
    namespace: Type.Optional(
      text(63, { default: nodePolicyDefaults.kured.namespace, description: 'Of the DaemonSet.', rules: [objectName] }),
    ),
    daemonSet: Type.Optional(
      text(253, { default: nodePolicyDefaults.kured.daemonSet, description: 'Its name.', rules: [objectName] }),
    ),
  },
  { description: "kured's DaemonSet: no node begins while a node holds the lock that is kept there." },
);

const drainSchema = object(
  {
    timeout: Type.Optional(
      text(longestDurationText, {
        default: nodePolicyDefaults.drain.timeout,
        description:
          'How long a node may stay cordoned before it is rebooted. Then it is uncordoned, put off for as long, and others have their turn.',
        rules: [durationBetween('1m', '24h')],
      }),
    ),
    unmanagedPods: Type.Optional(
      Type.Enum(['Keep', 'Evict'], {
        default: nodePolicyDefaults.drain.unmanagedPods,
        description: 'Pods that no controller makes anew. Keep: a node with one is not rebooted. Evict: they are lost.',
      }),
    ),
  },
  { description: 'How pods leave the node: by the Eviction API, so that every PodDisruptionBudget holds.' },
);

interface Reboot {
  readonly method?: string;
  readonly command?: readonly string[];
}

const commandFits = rule<Reboot>({
  message: 'command belongs to method Command, and to no other',
  cel: "(has(self.method) && self.method == 'Command') == has(self.command)",
  holds: ({ method, command }) => (method === 'Command') === (command !== undefined),
  fieldPath: '.command',
});

const rebootSchema = object(
  {
    method: Type.Optional(
      Type.Enum(['DBus', 'Signal', 'Command', 'External'], {
        default: nodePolicyDefaults.reboot.method,
        description:
          "Each but External is root on the host. DBus: systemd-logind is asked on the host's system bus; the Job runs as root with that socket, which takes orders of root: it is not privileged, and could take the host over all the same. Signal: SIGRTMIN+5 for the host's systemd; the Job sees the host's processes and may signal them. Command: a privileged Job runs the command. External: no Job; tooling of your own reboots a node with the annotation etcd.ratchet.dev/reboot-now.",
      }),
    ),
    command: Type.Optional(
      list(text(1024, { minLength: 1 }), 32, {
        description: "Of method Command: what is run, in etcd-ratchet's image, with the host's process IDs. No shell.",
      }),
    ),
    timeout: Type.Optional(
      text(longestDurationText, {
        default: nodePolicyDefaults.reboot.timeout,
        description:
          'How long a reboot may take, from the order until the node is Ready, and from then until its members are healthy. Later a person is asked, and no other node begins.',
        rules: [durationBetween('1m', '24h')],
      }),
    ),
  },
  { description: 'How the node is rebooted.', rules: [commandFits] },
);

export const etcdNodePolicySpecSchema = object({
  nodeSelector: stringMap({
    description:
      'Labels of the nodes that this policy is about. Empty: all nodes. A node takes its first policy by name.',
  }),
  maxUnavailable: Type.Optional(
    intOrString({
      default: nodePolicyDefaults.maxUnavailable,
      description:
        'How many of these nodes may be unavailable at once: a number, or a percentage (rounded down, at least 1). A node counts that is not Ready, or under way.',
      rules: [isCount],
    }),
  ),
  groupLabel: Type.Optional(
    text(317, {
      description:
        'A label of nodes, like topology.kubernetes.io/zone. Those with the same value are a group. Groups go one after the other: no node begins while one of another group is unavailable.',
      rules: [isKey],
    }),
  ),
  windows: Type.Optional(
    windowsSchema(
      'When the reboot of a node may begin: within any of these. Absent: always. One that has begun goes on.',
    ),
  ),
  suspend: Type.Optional(
    Type.Boolean({ default: false, keepsDefault, description: 'No reboot begins. One that has begun goes on.' }),
  ),
  blockedBy: Type.Optional(
    list(
      object({
        namespace: Type.Optional(text(63, { description: 'Of the pods. Absent: any.' })),
        labels: stringMap({ description: 'Labels that such a pod has, all of them. Not empty.' }),
      }),
      16,
      { description: 'A node with a running pod like this does not begin: a batch job that must not be cut off, say.' },
    ),
  ),
  allowDowntimeOf: Type.Optional(
    list(text(127, { rules: [clusterName] }), 100, {
      description:
        'EtcdClusters that may lose their quorum while a node of theirs is away, as namespace/name. All others keep it.',
    }),
  ),
  clusterTimeout: Type.Optional(
    text(longestDurationText, {
      default: nodePolicyDefaults.clusterTimeout,
      description:
        'How long a cluster of allowDowntimeOf that is suspended, paused, being deleted, or in the middle of something may keep nodes from their reboots. Then they begin, but never while an invocation acts on the cluster, or while it can not be looked at.',
      rules: [durationBetween('10m', '720h')],
    }),
  ),
  blockedByAlerts: Type.Optional(alertsSchema),
  sentinel: Type.Optional(sentinelSchema),
  kured: Type.Optional(kuredSchema),
  skipDrain: Type.Optional(
    Type.Boolean({
      default: nodePolicyDefaults.skipDrain,
      description:
        'Only members of etcd clusters leave before the reboot. All other pods end with the node, without eviction and without their disruption budgets, and start again there.',
    }),
  ),
  drain: Type.Optional(drainSchema),
  reboot: Type.Optional(rebootSchema),
});

const grantSchema = object({
  node: text(253, { minLength: 1, description: 'The node.' }),
  uid: text(64, { description: 'Of its Node object. Another one of the same name is another node.' }),
  id: text(32, { description: 'Of this grant. The marks on the Node have it.' }),
  at: time({ description: 'When it was given.' }),
  why: text(256, { description: 'What the Node said that it needs a reboot for.' }),
  bootID: text(64, { description: 'Of the boot that is to end.' }),
  clusters: list(text(127), 200, { description: 'EtcdClusters with a member there, as namespace/name.' }),
  overruled: Type.Optional(
    list(text(127), 200, {
      description: 'Of these, the ones that kept the node waiting for longer than spec.clusterTimeout.',
    }),
  ),
  oneLessSince: Type.Optional(
    time({ description: 'Since when the clusters with a member there run with one less: its first member left.' }),
  ),
  ordered: Type.Optional(
    time({
      description:
        'Of method External: when the node was drained and the order given. An annotation reboot-now without it is none.',
    }),
  ),
});

export const etcdNodePolicyStatusSchema = object({
  observedGeneration,
  nodes: Type.Optional(int32({ minimum: 0, description: 'Nodes that the policy is about.' })),
  needed: Type.Optional(int32({ minimum: 0, description: 'Nodes that need a reboot and have not begun.' })),
  inProgress: Type.Optional(int32({ minimum: 0, description: 'Nodes under way.' })),
  done: Type.Optional(int64({ minimum: 0, description: 'Reboots that have been completed.' })),
  lastDone: Type.Optional(
    object(
      {
        node: text(253, { description: 'The node.' }),
        at: time({ description: 'When it was done.' }),
        oneLessSeconds: Type.Optional(
          int64({
            minimum: 0,
            description:
              'For how long its clusters ran with one less: from its first member that left until all were whole.',
          }),
        ),
      },
      { description: 'The last reboot that was completed.' },
    ),
  ),
  grants: Type.Optional(
    list(grantSchema, 1000, {
      description: 'The nodes under way. Only what is listed here is cordoned, drained and rebooted.',
    }),
  ),
  blocked: Type.Optional(
    list(
      object({
        node: text(253, { description: 'The node.' }),
        reason: text(128, { description: 'Why, in one word of docs/reference/reasons.md.' }),
        message: text(1024, { description: 'Why, in words.' }),
      }),
      20,
      { description: 'The first of the nodes that need a reboot and can not begin, or are under way and wait.' },
    ),
  ),
  keeping: Type.Optional(
    list(
      object({
        cluster: text(127, { description: 'The EtcdCluster, as namespace/name.' }),
        since: time({ description: 'Since when: spec.clusterTimeout counts from here.' }),
      }),
      100,
      { description: 'Clusters of spec.allowDowntimeOf that would keep a node now, whatever else keeps it.' },
    ),
  ),
  conditions: Type.Optional(conditionsSchema),
});

export const etcdNodePolicyRules: readonly Rule[] = [
  rule<{ metadata: { name: string } }>({
    message: 'metadata.name must be at most 63 characters, lower-case letters, digits and "-"',
    cel: `size(self.metadata.name) <= 63 && self.metadata.name.matches('${celEscape(dnsLabel)}')`,
    holds: ({ metadata }) => metadata.name.length <= 63 && new RegExp(dnsLabel).test(metadata.name),
    fieldPath: '.metadata.name',
  }),
];

export type EtcdNodePolicySpec = ReadonlyDeep<Static<typeof etcdNodePolicySpecSchema>>;
export type EtcdNodePolicyStatus = ReadonlyDeep<Static<typeof etcdNodePolicyStatusSchema>>;
export type NodeGrant = NonNullable<EtcdNodePolicyStatus['grants']>[number];

/** Which nodes are rebooted, when, and how many at once. Of the whole cluster: it has no namespace. */
export type EtcdNodePolicy = CustomResource<'EtcdNodePolicy', EtcdNodePolicySpec, EtcdNodePolicyStatus>;
