import Type, { type Static } from 'typebox';
import { approvalsAsked } from './approval.ts';
import { countersSchema } from './cluster-counters.ts';
import { existingClusterSchema } from './existing-cluster.ts';
import { conditionsSchema } from './metadata.ts';
import { int32, int64, list, object, preserved, type ReadonlyDeep, text, time } from './schema.ts';
import { etcdId, memberRole, observedGeneration, reasonWord, stepTarget } from './status-fields.ts';

/** Kept of those that signed while something is asked; the first ones. */
export const mostSigners = 32;

const memberStatusSchema = object({
  name: text(253, { description: 'The member, whose pod is <name>-0.' }),
  id: Type.Optional(etcdId),
  role: Type.Optional(memberRole),
  version: Type.Optional(text(32, { description: 'The version that runs.' })),
  healthy: Type.Boolean({ description: 'Whether nothing is wrong with it.' }),
  startedAt: Type.Optional(
    time({ description: 'For a learner: when its etcd first ran. The time that it has counts from here.' }),
  ),
  unhealthySince: Type.Optional(
    time({ description: 'When it was first seen unhealthy. spec.healing counts from here.' }),
  ),
  defragmentedAt: Type.Optional(
    time({ description: 'When it was last asked to defragment its database, whatever came of it.' }),
  ),
  dbBytes: Type.Optional(int64({ minimum: 0, description: 'Of its database file, in bytes.' })),
  dbInUseBytes: Type.Optional(int64({ minimum: 0, description: 'Of that: what is in use, in bytes.' })),
});

const certificatesStatusSchema = object(
  {
    notAfter: time({ description: 'When the first of all certificates ends.' }),
    secretName: text(253, { description: 'The Secret of that certificate.' }),
    renewAfter: time({ description: 'When the next certificate is due for renewal.' }),
    rotation: Type.Optional(text(253, { description: 'The request for new CAs that was answered last.' })),
    issued: Type.Optional(text(64, { description: 'A hash of what cert-manager had issued by then.' })),
  },
  { description: 'Of all certificates of the cluster.' },
);

const authStatusSchema = object(
  {
    enabled: Type.Boolean({ description: 'Whether etcd asked clients for their user when all was last as asked.' }),
    users: list(text(63), 256, { description: 'Users that spec.auth lists, or listed and that are not deleted yet.' }),
    roles: list(text(63), 256, { description: 'Roles that spec.auth lists, or listed and that are not deleted yet.' }),
    revision: Type.Optional(
      text(20, { description: "etcd's own revision of its users, when all of them were as asked." }),
    ),
    asked: Type.Optional(text(64, { description: 'A hash of what was asked then.' })),
  },
  { description: "etcd's users and roles, where spec.auth says what they are to be." },
);

const stepSchema = object(
  {
    action: text(64, { description: 'What is done.' }),
    parameters: Type.Optional(
      preserved({ description: 'The whole action: an invocation that takes over finishes this very step.' }),
    ),
    target: Type.Optional(stepTarget),
    reason: reasonWord,
    holder: object(
      {
        pod: text(253, { description: "The pod's name." }),
        uid: text(64, { description: "The pod's UID." }),
      },
      { description: 'The pod of the invocation. Once it has ended, another one takes over.' },
    ),
    startedAt: time({ description: 'When it was taken on.' }),
    deadline: time({ description: 'When another invocation takes over, whatever became of the pod.' }),
  },
  { description: 'The step that an invocation has taken on (its lease).' },
);

const refusalSchema = object({
  reason: reasonWord,
  message: text(2048, { description: 'Why, in words, and what would make it go on.' }),
  field: Type.Optional(text(256, { description: 'The field of the spec that it is about.' })),
});

const setAsideSchema = object({
  action: text(64, { description: 'What was to be done.' }),
  target: Type.Optional(stepTarget),
  key: text(64, { description: 'Tells the action from others of its kind.' }),
  reason: text(128, { description: 'Why it was refused, in one word.' }),
  message: text(2048, { description: 'Why it was refused, in words.' }),
  generation: int64({ minimum: 0, description: 'The generation of the spec at which it was refused.' }),
  repeated: Type.Optional(
    Type.Boolean({
      description:
        'Failed in a way that may pass by itself. It steps aside only after some failures in a row, and only where something else can go on.',
    }),
  ),
  since: time({ description: 'When it was first refused.' }),
  tries: int32({ minimum: 1, description: 'How often it was tried.' }),
  until: time({ description: 'When it is tried again. A new spec, or a request to look now, makes it try at once.' }),
});

const historyEntrySchema = object({
  at: time({ description: 'When it was over.' }),
  action: text(64, { description: 'What was done.' }),
  target: Type.Optional(stepTarget),
  reason: reasonWord,
  message: text(2048, { description: 'Why, in words.' }),
  outcome: text(64, { description: 'How it ended.' }),
  generation: Type.Optional(int64({ minimum: 0, description: 'The generation of the spec that asked for it.' })),
  revision: Type.Optional(text(512, { description: 'The revision that asked for it: <ref>@sha1:<40 hex>.' })),
});

const plannedStepSchema = object({
  action: text(64, { description: 'What is done.' }),
  target: Type.Optional(text(1024, { description: 'To what.' })),
  reason: reasonWord,
  outcome: Type.Optional(text(64, { description: 'How it ended; absent of what is only foretold.' })),
});

const planSchema = object(
  {
    asked: text(64, { description: 'The spec that it is for: its generation, and what its UID begins with.' }),
    generation: int64({ minimum: 0, description: 'The generation of the spec that it is for.' }),
    at: time({ description: 'When it was made.' }),
    state: Type.Enum(['Pending', 'UnderWay', 'AsPlanned', 'Left', 'NotFollowed'], {
      description:
        'Pending: no step can be foreseen yet. UnderWay: as planned so far. AsPlanned: it was kept to its end. Left: something else was done. NotFollowed: it is too long.',
    }),
    message: text(512, { description: 'The same in words: as planned, or where and why it was left.' }),
    foretold: Type.Optional(list(plannedStepSchema, 64, { description: 'The steps, as long as they are under way.' })),
    taken: Type.Optional(list(plannedStepSchema, 96, { description: 'The steps taken so far.' })),
    ends: Type.Optional(text(64, { description: 'How it ends: done, refused, waits or goes-on.' })),
    interrupted: Type.Optional(
      Type.Boolean({ description: 'A step failed, or an invocation ended in the middle of one.' }),
    ),
    earlier: Type.Optional(
      int32({
        minimum: 0,
        description: 'Steps before something that could not be foreseen: it was planned anew then.',
      }),
    ),
    outgrown: Type.Optional(
      text(256, { description: 'What it costs, where that is more than what its request showed.' }),
    ),
    withoutCertificates: Type.Optional(
      Type.Boolean({ description: 'Certificates were not looked at: steps about them are not part of it.' }),
    ),
  },
  { description: 'The steps that this spec was to take, as foretold when it was first seen, and what came of that.' },
);

export const etcdClusterStatusSchema = object({
  observedGeneration,
  lastHandledReconcileAt: Type.Optional(
    text(253, { description: 'The value of the annotation etcd.ratchet.dev/reconcile that was last answered.' }),
  ),
  clusterID: Type.Optional(etcdId),
  gaveUp: Type.Optional(
    list(text(16), 64, {
      description: 'Etcd clusters that were given up for this one when it was rolled back, the last one last.',
    }),
  ),
  existing: Type.Optional({
    ...existingClusterSchema,
    description: 'What spec.bootstrap.existing said when ours joined; it counts while members of that cluster vote.',
  }),
  existingUnknownSince: Type.Optional(
    time({ description: 'Since when no member list tells whether members of the existing cluster vote.' }),
  ),
  revisionFloor: Type.Optional(
    int64({ minimum: 0, description: 'Where it began from a snapshot: with this revision, or a later one.' }),
  ),
  leader: Type.Optional(text(253, { description: "The leader's name." })),
  version: Type.Optional(
    text(64, { description: 'What the members run: one version, or the lowest and the highest, like 3.5.35..3.6.16.' }),
  ),
  clusterVersion: Type.Optional(text(32, { description: "etcd's cluster version, like 3.6.0." })),
  replicas: Type.Optional(int32({ minimum: 0, description: 'Members that there are.' })),
  readyReplicas: Type.Optional(int32({ minimum: 0, description: 'Of those: members that are healthy.' })),
  membersReady: Type.Optional(
    text(16, { description: 'For people: members that are healthy, of those that are asked for, like 3/3.' }),
  ),
  selector: Type.Optional(text(512, { description: 'The label selector of the pods, for the scale subresource.' })),
  members: Type.Optional(list(memberStatusSchema, 32, { description: 'The members, as etcd and their pods have it.' })),
  certificates: Type.Optional(certificatesStatusSchema),
  auth: Type.Optional(authStatusSchema),
  step: Type.Optional(stepSchema),
  refusals: Type.Optional(list(refusalSchema, 32, { description: 'What the spec asks for and cannot be done.' })),
  // Few things at once: a recovery or a member that is given up, and a rollback.
  approvals: approvalsAsked(8),
  signers: Type.Optional(
    list(text(200), mostSigners, {
      description:
        'Who signed the commits that were applied since the cluster was last as asked, where its fleet has spec.approvals.notByAuthor: none of them approves what is asked.',
    }),
  ),
  setAside: Type.Optional(
    list(setAsideSchema, 16, {
      description:
        'Actions that were refused, or failed, and will be tried again; what does not depend on them goes on.',
    }),
  ),
  history: Type.Optional(list(historyEntrySchema, 20, { description: 'The last steps, the newest one last.' })),
  plan: Type.Optional(planSchema),
  soak: Type.Optional(
    object(
      {
        version: text(64, { description: 'What all others run.' }),
        since: time({ description: 'Since when they do.' }),
      },
      { description: 'Of spec.update.soak: some members keep the minor before this version.' },
    ),
  ),
  lastDecision: Type.Optional(
    object(
      {
        kind: Type.Enum(['Act', 'Wait', 'Refuse', 'Done'], {
          description:
            'Act: a step was taken. Wait: something must come first. Refuse: a person is needed. Done: nothing.',
        }),
        reason: reasonWord,
        message: text(2048, { description: 'Why, in words.' }),
        waitingSince: Type.Optional(
          time({
            description: 'Since when it has waited for that, or failed at it. A person is told after some time.',
          }),
        ),
      },
      { description: 'What the last invocation decided.' },
    ),
  ),
  counters: Type.Optional(countersSchema),
  fullLook: Type.Optional(
    object(
      {
        at: time({ description: 'When it was.' }),
        seen: text(64, { description: 'A digest of what the lists held of the cluster then.' }),
        unheardSince: Type.Optional(
          time({
            description: 'When members did not answer for their health, although all was well: no look is skipped.',
          }),
        ),
      },
      {
        description:
          'The last full look, where it found nothing to do. While the lists hold the same and all members say that they are well, the looks of the next minutes go no further.',
      },
    ),
  ),
  revision: Type.Optional(text(512, { description: '<ref>@sha1:<40 hex>' })),
  conditions: Type.Optional(conditionsSchema),
});

export type EtcdClusterStatus = ReadonlyDeep<Static<typeof etcdClusterStatusSchema>>;
export type ClusterMemberStatus = ReadonlyDeep<Static<typeof memberStatusSchema>>;
export type ClusterStep = ReadonlyDeep<Static<typeof stepSchema>>;
export type ClusterSetAside = ReadonlyDeep<Static<typeof setAsideSchema>>;
export type ClusterPlan = ReadonlyDeep<Static<typeof planSchema>>;
export type ClusterHistoryEntry = ReadonlyDeep<Static<typeof historyEntrySchema>>;
