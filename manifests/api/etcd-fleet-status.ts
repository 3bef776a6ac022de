import Type, { type Static } from 'typebox';
import { approvalsAsked, longestFleetApprovalText } from './approval.ts';
import { conditionsSchema } from './metadata.ts';
import { int32, int64, list, object, type ReadonlyDeep, text, time } from './schema.ts';
import { observedGeneration } from './status-fields.ts';

/** The longest `spec.git.ref`, and the name of a commit. */
const longestRevision = 255 + '@sha1:'.length + 40;

/** `etcd-ratchet/<fleet>.<namespace>/<namespace>/<cluster>`, each as long as its kind of name may be. */
const longestContext = 'etcd-ratchet/.//'.length + 45 + 63 + 63 + 253;

const inventoryEntrySchema = object({
  kind: Type.Optional(text(63, { description: 'Absent: EtcdCluster.' })),
  namespace: text(63, { description: "The object's namespace." }),
  name: text(253, { description: "The object's name." }),
  uid: text(64, { description: "The object's UID: one of another UID is not ours." }),
  generation: int64({ minimum: 0, description: 'The generation that the apply left.' }),
  source: text(1024, { description: 'The file it came from, from the root of the repository.' }),
  shownToStay: Type.Optional(
    Type.Boolean({ description: 'A plan showed that its data stay: a person confirms that they go.' }),
  ),
});

const problemSchema = object({
  file: text(1024, { description: 'From the root of the repository.' }),
  line: int32({ minimum: 0, description: 'From 1; 0 when the whole file is meant.' }),
  column: int32({ minimum: 0, description: 'From 1; 0 when the whole line is meant.' }),
  message: text(2048, { description: 'What is wrong there, and what to do.' }),
});

/** The outcome of a revision for repository and apply; conditions tell the state of its clusters. */
const revisionOutcomes = ['Applied', 'Refused', 'Retrying', 'Unreadable', 'Unverified'] as const;

const revisionEntrySchema = object({
  revision: text(longestRevision, { description: '<ref>@sha1:<40 hex>' }),
  outcome: Type.Enum(revisionOutcomes, {
    description:
      'Applied: all documents are applied. Refused: some are wrong, the others are applied. Retrying: something failed, and is tried again. Unreadable: its files could not be read. Unverified: it is not signed as spec.git.verify asks, so they were not read.',
  }),
  at: time({ description: 'When the result was first so.' }),
});

const commitStatusSchema = object({
  context: text(longestContext, { description: 'The name of the status, like etcd-ratchet/production/orders.' }),
  sha: text(40, { description: 'The commit.' }),
  state: text(16, { description: 'pending, success, failure or error.' }),
  description: text(140, { description: 'Its words.' }),
  targetURL: Type.Optional(text(2048, { description: 'Where it leads.' })),
  changed: Type.Optional(Type.Boolean({ description: 'This very commit changed what it is about.' })),
  uncertain: Type.Optional(
    Type.Boolean({
      description:
        'Two invocations sent one at once, or an answer was lost. Which the forge has is not known, so it is sent again.',
    }),
  ),
});

const requestCheckSchema = object({
  number: text(64, { description: "The forge's number of the request." }),
  others: Type.Optional(
    list(
      object({
        number: text(16, { description: "The forge's number of the request." }),
        comment: Type.Optional(text(16, { description: 'Hash of the comment as the forge has it.' })),
      }),
      4,
      { description: 'Other open requests with the same head: each has its own comment.' },
    ),
  ),
  fork: Type.Optional(Type.Boolean({ description: 'It comes from another repository.' })),
  head: text(40, { description: 'Its newest commit.' }),
  target: text(40, { description: 'The commit of the target branch that it was merged with.' }),
  state: Type.Enum(['untouched', 'withheld', 'pending', 'success', 'failure', 'error'], {
    description:
      'Of its commit status. untouched: it changes nothing of this fleet, and has none, or success where spec.checks.untouched says so. withheld: from a fork, and without the label; its commit status is pending.',
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
  observedGeneration,
  revision: Type.Optional(
    object(
      {
        attempted: Type.Optional(
          text(longestRevision, { description: 'The last one that was read: <ref>@sha1:<40 hex>.' }),
        ),
        applied: Type.Optional(text(longestRevision, { description: 'The last one that was applied as a whole.' })),
      },
      { description: 'What was read last, and what was applied.' },
    ),
  ),
  verification: Type.Optional(
    object(
      {
        revision: text(longestRevision, { description: '<ref>@sha1:<40 hex>' }),
        url: text(2048, { description: 'The repository, as spec.git.url was.' }),
        mode: text(16, { description: 'As spec.git.verify.mode was.' }),
        signedBy: text(200, { description: 'The signer, as the trusted keys call it.' }),
        key: text(128, { description: "The key's fingerprint." }),
      },
      { description: 'The revision that was verified last, and who signed it (spec.git.verify).' },
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
        reconciling: int32({ minimum: 0, description: 'Those that are being changed, or deleted.' }),
        stalled: int32({ minimum: 0, description: 'Those that need a person.' }),
      },
      { description: "How many of the fleet's clusters are how." },
    ),
  ),
  inventory: Type.Optional(list(inventoryEntrySchema, 5000, { description: 'What the last apply left.' })),
  problems: Type.Optional(list(problemSchema, 20, { description: 'The first 20 of problemCount.' })),
  problemCount: Type.Optional(int32({ minimum: 0, description: 'How many problems the repository has.' })),
  approvals: approvalsAsked(2, longestFleetApprovalText),
  commitStatuses: Type.Optional(list(commitStatusSchema, 1000, { description: 'The last ones sent.' })),
  othersStatuses: Type.Optional(
    object(
      {
        sha: text(64, { description: 'Of the commit.' }),
        failed: Type.Optional(text(100, { description: 'The first that is a failure.' })),
      },
      { description: 'The commit statuses of spec.rollout.haltOnStatuses, as they were read last.' },
    ),
  ),
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
  requestsFrom: Type.Optional(
    int64({
      minimum: 0,
      description: "Where the next look begins in the forge's list of open requests, which is too long for one look.",
    }),
  ),
  requestsSeen: Type.Optional(
    object(
      {
        generation: int64({ minimum: 0, description: "The fleet's metadata.generation at that look." }),
        heads: int64({ minimum: 0, description: 'How many commits were to be checked.' }),
        list: text(256, { description: 'ETag of the list of open requests.' }),
        queue: Type.Optional(text(256, { description: 'ETag of the merge queue.' })),
      },
      { description: 'By which the forge tells that nothing has changed since all of it had its verdict.' },
    ),
  ),
  conditions: Type.Optional(conditionsSchema),
});

export type EtcdFleetStatus = ReadonlyDeep<Static<typeof etcdFleetStatusSchema>>;
export type RequestsSeen = NonNullable<EtcdFleetStatus['requestsSeen']>;
export type FleetInventoryEntry = ReadonlyDeep<Static<typeof inventoryEntrySchema>>;
export type FleetRevisionEntry = ReadonlyDeep<Static<typeof revisionEntrySchema>>;
export type FleetProblem = ReadonlyDeep<Static<typeof problemSchema>>;
export type FleetCommitStatus = ReadonlyDeep<Static<typeof commitStatusSchema>>;
export type RequestCheck = ReadonlyDeep<Static<typeof requestCheckSchema>>;
