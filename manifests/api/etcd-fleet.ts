import Type, { type Static } from 'typebox';
import { dnsLabel, httpUrl, objectName } from './common-rules.ts';
import { conditionsSchema, type ObjectMeta } from './metadata.ts';
import { type Rule, rule } from './rule.ts';
import { int32, int64, intOrString, list, object, type ReadonlyDeep, text, time } from './schema.ts';
import { fleetDefaults } from './spec-defaults.ts';

export const forgeTypes = [
  'GitHub',
  'GitLab',
  'Gitea',
  'Forgejo',
  'BitbucketCloud',
  'BitbucketDataCenter',
  'AzureDevOps',
] as const;
export type ForgeType = (typeof forgeTypes)[number];

/** The senders that a fleet's webhook understands; a superset of the forges, because any program can sign a body. */
export const webhookTypes = [...forgeTypes, 'Generic'] as const;
export type WebhookType = (typeof webhookTypes)[number];

const notSsh = rule<string>({
  message: 'SSH is not supported, use HTTPS: https://<host>/<owner>/<repository>.git, with a token in the Secret',
  cel: `!self.matches('^([a-z+]*ssh://|[^/@]+@[^/@:]+:)')`,
  holds: (url) => !/^([a-z+]*ssh:\/\/|[^/@]+@[^/@:]+:)/.test(url),
  hidesValue: true,
});

/** What git-check-ref-format allows, near enough: the remote has the last word. */
const gitRef = rule<string>({
  message: 'must be a branch, a tag, a full name like refs/heads/main or a commit',
  cel: String.raw`self.matches(r'^[^\x00-\x20\x7f~^:?*\[\\]+$') && !self.matches('^[-/]|[.][.]|@[{]|//|[/.]$|[.]lock$')`,
  holds: (ref) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    /^[^\x00-\x20\x7f~^:?*[\\]+$/u.test(ref) && !/^[-/]|\.\.|@\{|\/\/|[/.]$|\.lock$/.test(ref),
});

const insideTheTree = rule<string>({
  message: 'must be a directory of the repository: relative, with "/" between names, without ".."',
  cel: String.raw`self.matches(r'^[^/\x00-\x1f\\][^\x00-\x1f\\]*$') && !self.matches('(^|/)[.][.](/|$)')`,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  holds: (path) => /^[^/\x00-\x1f\\][^\x00-\x1f\\]*$/u.test(path) && !/(^|\/)\.\.(\/|$)/.test(path),
});

const countOrShare = rule<number | string>({
  message: 'must be a number from 1 on or a percentage from 1% to 100%; to stop a fleet, use suspend',
  cel: `string(self).matches('^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$')`,
  holds: (value) => /^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$/.test(String(value)),
});

export const etcdFleetSpecSchema = object({
  git: object(
    {
      url: text(2048, {
        description: 'https://… (SSH is not supported). Credentials go into the Secret.',
        rules: [notSsh, httpUrl],
      }),
      ref: text(255, { description: 'A branch, a tag, a full refs/… name or a commit.', rules: [gitRef] }),
      path: Type.Optional(
        text(1024, {
          default: fleetDefaults.path,
          description: 'The directory in the repository, without leading slash.',
          rules: [insideTheTree],
        }),
      ),
      secretName: Type.Optional(
        text(253, {
          description:
            "Secret with username and password, or token, or a GitHub App's appId, installationId and privateKey; and ca.crt for a CA of its own.",
          rules: [objectName],
        }),
      ),
    },
    { description: 'The directory of a repository that the specs are in.' },
  ),
  forge: Type.Optional(
    object(
      {
        type: Type.Enum(forgeTypes, { description: 'Which API the forge has.' }),
        apiUrl: Type.Optional(
          text(2048, {
            description:
              "The API's address, where git.url's host does not tell it: for instance https://git.example.com/api/v4.",
            rules: [httpUrl],
          }),
        ),
        secretName: text(253, {
          description:
            "Secret with token; or, where the forge takes them, with username and password, or with a GitHub App's appId, installationId and privateKey. And ca.crt for a CA of its own.",
          rules: [objectName],
        }),
      },
      { description: 'Where commit statuses go. Absent: none are sent.' },
    ),
  ),
  checks: Type.Optional(
    object(
      {
        pullRequests: Type.Optional(
          Type.Enum(['Enabled', 'Disabled'], {
            default: fleetDefaults.pullRequests,
            description:
              'Open pull (merge) requests that touch the path get a status with the plan of what merging them would do.',
          }),
        ),
        comment: Type.Optional(
          Type.Boolean({
            default: false,
            description: 'Also as one comment that is kept up to date (GitHub, Gitea, Forgejo, GitLab).',
          }),
        ),
      },
      { description: 'Checks of pull (merge) requests into git.ref. Without a forge there are none.' },
    ),
  ),
  webhook: Type.Optional(
    object(
      {
        type: Type.Optional(
          Type.Enum(webhookTypes, {
            description: 'The sender. Absent: forge.type, or Generic (X-Signature: sha256=<hex HMAC of the body>).',
          }),
        ),
        secretName: text(253, {
          description:
            'Secret with the key secret, which the caller proves to know; previousSecret while it is rotated.',
          rules: [objectName],
        }),
      },
      { description: 'Takes POST /hooks/<namespace>/<name> from the forge, so that a push need not wait for a tick.' },
    ),
  ),
  serviceAccountName: Type.Optional(
    text(253, {
      default: fleetDefaults.serviceAccountName,
      description: "A service account in the fleet's namespace: the fleet may touch what this account may.",
      rules: [objectName],
    }),
  ),
  prune: Type.Optional(
    Type.Boolean({ default: false, description: 'Delete clusters that the repository no longer lists.' }),
  ),
  maxClustersInProgress: Type.Optional(
    intOrString({
      default: fleetDefaults.maxClustersInProgress,
      description:
        'How many clusters may be changed at once: rolled, upgraded, scaled, stopped or defragmented. A cluster that is not well counts, and is healed all the same. A cluster that is being born, hibernates or is paused does not count. A number or a percentage, at least 1.',
      rules: [countOrShare],
    }),
  ),
  suspend: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'The repository is not read. Its clusters are kept as their last spec says. To stop them as well, suspend or pause them, or suspend the CronJob.',
    }),
  ),
});

const inventoryEntrySchema = object({
  kind: Type.Optional(text(63, { description: 'Absent: EtcdCluster.' })),
  namespace: text(63, { description: "The object's namespace." }),
  name: text(253, { description: "The object's name." }),
  uid: text(64, { description: "The object's UID: one of another UID is not ours." }),
  generation: int64({ minimum: 0, description: 'The generation that the apply left.' }),
  source: text(1024, { description: 'The file it came from, from the root of the repository.' }),
});

const problemSchema = object({
  file: text(1024, { description: 'From the root of the repository.' }),
  line: int32({ minimum: 0, description: 'From 1; 0 when the whole file is meant.' }),
  column: int32({ minimum: 0, description: 'From 1; 0 when the whole line is meant.' }),
  message: text(2048, { description: 'What is wrong there, and what to do.' }),
});

/**
 * What became of a revision, as far as the repository and the apply are concerned; how its clusters do is said by
 * conditions.
 */
const revisionOutcomes = ['Applied', 'Refused', 'Retrying', 'Unreadable'] as const;

const revisionEntrySchema = object({
  revision: text(512, { description: '<ref>@sha1:<40 hex>' }),
  outcome: Type.Enum(revisionOutcomes, {
    description:
      'Applied: all documents are applied. Refused: some are wrong, the others are applied. Retrying: something failed, and is tried again. Unreadable: its files could not be read.',
  }),
  at: time({ description: 'When the result was first so.' }),
});

const commitStatusSchema = object({
  context: text(512, { description: 'The name of the status, like etcd-ratchet/production/orders.' }),
  sha: text(40, { description: 'The commit.' }),
  state: text(16, { description: 'pending, success, failure or error.' }),
  description: text(140, { description: 'Its words.' }),
  targetUrl: Type.Optional(text(2048, { description: 'Where it leads.' })),
});

/** One change request as it was last checked. */
const requestCheckSchema = object({
  number: text(64, { description: "The forge's number of the request." }),
  head: text(40, { description: 'Its newest commit.' }),
  target: text(40, { description: 'The commit of the target branch that it was merged with.' }),
  state: Type.Enum(['untouched', 'pending', 'success', 'failure', 'error'], {
    description: 'Of its commit status. untouched: it changes nothing of this fleet, and has none.',
  }),
  description: text(140, { description: 'The words of its commit status.' }),
  seen: Type.Optional(text(64, { description: 'What the clusters it touches looked like, as a hash.' })),
  clusters: Type.Optional(
    list(text(317), 10, { description: 'The clusters that it touches. Absent: all of the fleet.' }),
  ),
  begunAt: Type.Optional(
    time({ description: 'When the invocation that checks it began. For a while no other one checks it.' }),
  ),
  sent: Type.Optional(Type.Boolean({ description: 'The forge has this state and description.' })),
  comment: Type.Optional(text(64, { description: 'Hash of the comment as the forge has it.' })),
});

export const etcdFleetStatusSchema = object({
  observedGeneration: int64({ minimum: -1, description: 'The generation of the spec that this status is about.' }),
  revision: Type.Optional(
    object(
      {
        attempted: Type.Optional(text(512, { description: 'The last one that was read: <ref>@sha1:<40 hex>.' })),
        applied: Type.Optional(text(512, { description: 'The last one that was applied as a whole.' })),
      },
      { description: 'What was read last, and what was applied.' },
    ),
  ),
  history: Type.Optional(
    list(revisionEntrySchema, 10, {
      description:
        'The last revisions, newest first. A revision that comes back, for instance by a reset, is a new entry.',
    }),
  ),
  source: Type.Optional(
    object(
      {
        url: text(2048, { description: 'As spec.git.url was.' }),
        ref: text(255, { description: 'As spec.git.ref was.' }),
        path: text(1024, { description: 'As spec.git.path was.' }),
      },
      { description: 'Where the inventory came from. Nothing is pruned by a list from another place.' },
    ),
  ),
  lastRun: Type.Optional(
    time({
      description:
        'When a tick last looked at this fleet. If that is much older than the schedule, its trigger has stopped.',
    }),
  ),
  lastHandledReconcileAt: Type.Optional(
    text(253, { description: 'The value of the annotation etcd.ratchet.dev/reconcile that was last answered.' }),
  ),
  clusters: Type.Optional(
    object(
      {
        total: int32({ minimum: 0, description: 'All of them.' }),
        ready: int32({ minimum: 0, description: 'Those whose Ready is True.' }),
        inProgress: int32({ minimum: 0, description: 'Those that are being changed.' }),
        stalled: int32({ minimum: 0, description: 'Those that need a person.' }),
      },
      { description: "How many of the fleet's clusters are how." },
    ),
  ),
  inventory: Type.Optional(list(inventoryEntrySchema, 5000, { description: 'What the last apply left.' })),
  problems: Type.Optional(list(problemSchema, 20, { description: 'The first 20 of problemCount.' })),
  problemCount: Type.Optional(int32({ minimum: 0, description: 'How many problems the repository has.' })),
  commitStatuses: Type.Optional(list(commitStatusSchema, 1000, { description: 'The last ones sent.' })),
  reportsAs: Type.Optional(
    object(
      {
        name: text(128, { description: 'What comes after etcd-ratchet/ in them.' }),
        url: text(2048, { description: 'The repository.' }),
      },
      { description: 'The name in its commit statuses, and the repository that this is for.' },
    ),
  ),
  forgeRetryAfter: Type.Optional(time({ description: 'The forge limits our requests: none are sent until then.' })),
  checks: Type.Optional(
    list(requestCheckSchema, 100, { description: 'Open change requests as they were last checked.' }),
  ),
  conditions: Type.Optional(conditionsSchema),
});

/** The field manager `etcd-ratchet-fleet-<namespace>-<name>` may have 128 characters, and a namespace 63 of them. */
const longestName = 45;

/** Rules about the object as a whole. */
export const etcdFleetRules: readonly Rule[] = [
  rule<{ metadata: { name: string } }>({
    message: `metadata.name must be at most ${longestName} characters: the field manager made from it may have 128`,
    cel: `size(self.metadata.name) <= ${longestName}`,
    holds: ({ metadata }) => metadata.name.length <= longestName,
    fieldPath: '.metadata.name',
  }),
  rule<{ metadata: { name: string } }>({
    message: 'metadata.name must be lower-case letters, digits and "-": it is part of the context of commit statuses',
    cel: `self.metadata.name.matches('${dnsLabel}')`,
    holds: ({ metadata }) => new RegExp(dnsLabel).test(metadata.name),
    fieldPath: '.metadata.name',
  }),
];

export type EtcdFleetSpec = ReadonlyDeep<Static<typeof etcdFleetSpecSchema>>;
export type EtcdFleetStatus = ReadonlyDeep<Static<typeof etcdFleetStatusSchema>>;
export type FleetInventoryEntry = ReadonlyDeep<Static<typeof inventoryEntrySchema>>;
export type FleetRevisionEntry = ReadonlyDeep<Static<typeof revisionEntrySchema>>;
export type FleetProblem = ReadonlyDeep<Static<typeof problemSchema>>;
export type FleetCommitStatus = ReadonlyDeep<Static<typeof commitStatusSchema>>;
export type RequestCheck = ReadonlyDeep<Static<typeof requestCheckSchema>>;

/** One Git repository, ref and path whose specs are kept live. */
export interface EtcdFleet {
  readonly apiVersion: 'etcd.ratchet.dev/v1alpha1';
  readonly kind: 'EtcdFleet';
  readonly metadata: ObjectMeta;
  readonly spec: EtcdFleetSpec;
  readonly status?: EtcdFleetStatus;
}
