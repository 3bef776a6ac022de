import Type, { type Static } from 'typebox';
import { conditionsSchema, type ObjectMeta } from './metadata.ts';
import { int32, int64, intOrString, list, type ReadonlyDeep, text, time } from './schema.ts';

export const forgeTypes = ['GitHub', 'Gitea', 'Forgejo'] as const;
export type ForgeType = (typeof forgeTypes)[number];

export const etcdFleetSpecSchema = Type.Object({
  git: Type.Object({
    url: text(2048, { minLength: 1, description: 'https://… (SSH is not supported). Credentials go into the Secret.' }),
    ref: text(255, { minLength: 1, description: 'A branch, a tag, a full refs/… name or a commit.' }),
    path: Type.Optional(
      text(1024, { default: '.', description: 'The directory in the repository, without leading slash.' }),
    ),
    secretName: Type.Optional(
      text(253, { description: 'Secret with username and password, or token; and ca.crt for a CA of its own.' }),
    ),
  }),
  forge: Type.Optional(
    Type.Object(
      {
        type: Type.Enum(forgeTypes),
        apiUrl: Type.Optional(
          text(2048, { description: "For self-hosted forges whose API is not where git.url's host says." }),
        ),
        secretName: text(253, { minLength: 1, description: 'Secret with the token that may write commit statuses.' }),
      },
      { description: 'Where commit statuses go. Absent: none are sent.' },
    ),
  ),
  serviceAccountName: Type.Optional(
    text(253, {
      default: 'fleet',
      description: "In the fleet's namespace: what this fleet may touch is what it may touch.",
    }),
  ),
  prune: Type.Optional(
    Type.Boolean({ default: false, description: 'Delete clusters that the repository no longer lists.' }),
  ),
  maxClustersInProgress: Type.Optional(
    intOrString({ default: '10%', description: 'Disruptive steps only; a number or a percentage, at least 1.' }),
  ),
  suspend: Type.Optional(Type.Boolean({ default: false })),
});

const inventoryEntrySchema = Type.Object({
  namespace: text(63),
  name: text(253),
  uid: text(64),
  generation: int64({ minimum: 0 }),
  source: text(1024, { description: 'The file it came from, from the root of the repository.' }),
});

const problemSchema = Type.Object({
  file: text(1024),
  line: int32({ minimum: 0, description: 'From 1; 0 when the whole file is meant.' }),
  column: int32({ minimum: 0 }),
  message: text(2048),
});

const commitStatusSchema = Type.Object({
  context: text(512),
  sha: text(40),
  state: text(16),
  description: text(140),
  targetUrl: Type.Optional(text(2048)),
});

export const etcdFleetStatusSchema = Type.Object({
  observedGeneration: int64({ minimum: -1 }),
  revision: Type.Optional(
    Type.Object({
      attempted: Type.Optional(text(512, { description: '<ref>@sha1:<40 hex>' })),
      applied: Type.Optional(text(512, { description: '<ref>@sha1:<40 hex>' })),
    }),
  ),
  source: Type.Optional(
    Type.Object(
      { url: text(2048), ref: text(255), path: text(1024) },
      { description: 'Where the inventory came from; nothing is pruned by what another place lists.' },
    ),
  ),
  lastRun: Type.Optional(time()),
  clusters: Type.Optional(
    Type.Object({
      total: int32({ minimum: 0 }),
      ready: int32({ minimum: 0 }),
      inProgress: int32({ minimum: 0 }),
      stalled: int32({ minimum: 0 }),
    }),
  ),
  inventory: Type.Optional(list(inventoryEntrySchema, 5000, { description: 'What our apply left.' })),
  problems: Type.Optional(list(problemSchema, 20, { description: 'The first 20 of problemCount.' })),
  problemCount: Type.Optional(int32({ minimum: 0 })),
  commitStatuses: Type.Optional(list(commitStatusSchema, 1000, { description: 'The last ones sent.' })),
  conditions: Type.Optional(conditionsSchema),
});

export type EtcdFleetSpec = ReadonlyDeep<Static<typeof etcdFleetSpecSchema>>;
export type EtcdFleetStatus = ReadonlyDeep<Static<typeof etcdFleetStatusSchema>>;
export type FleetInventoryEntry = ReadonlyDeep<Static<typeof inventoryEntrySchema>>;
export type FleetProblem = ReadonlyDeep<Static<typeof problemSchema>>;
export type FleetCommitStatus = ReadonlyDeep<Static<typeof commitStatusSchema>>;

/** One Git repository, ref and path whose specs are kept live. */
export interface EtcdFleet {
  readonly apiVersion: 'etcd.ratchet.dev/v1alpha1';
  readonly kind: 'EtcdFleet';
  readonly metadata: ObjectMeta;
  readonly spec: EtcdFleetSpec;
  readonly status?: EtcdFleetStatus;
}
