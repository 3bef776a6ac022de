import Type, { type Static } from 'typebox';
import { etcdEndpointPattern, sha256Digest } from '../../../manifests/api/common-rules.ts';
import { type ObjectLocation, parseLocation, parsePrefix } from '../../../manifests/api/object-template.ts';
import { isPlainObject, notPlainData } from '../../../manifests/api/plain-data.ts';
import { collectProblems, shown } from '../../../manifests/api/problem.ts';
import { list, map, object, type ReadonlyDeep, structural, text } from '../../../manifests/api/schema.ts';
import { didYouMean } from '../../../manifests/api/suggest.ts';
import { problemOfTimeZone } from '../../../manifests/api/time-rules.ts';
import { versionPattern } from '../../../manifests/api/version.ts';
import { walk } from '../../../manifests/api/walk.ts';
import { exampleBucket, requiredOf, storeFields } from '../../../manifests/stores/stores.ts';
import { BackupFailure } from '../../jobs/failure.ts';

/** What the agent is asked: one JSON document. It names files for all that is secret, and holds none of it. */

const path = (options: { readonly description?: string } = {}) => text(1024, { minLength: 1, ...options });

const storeSchema = object({
  directory: Type.Optional(path({ description: 'Where the PersistentVolumeClaim of the object is mounted.' })),
  caFile: Type.Optional(
    path({ description: 'Certificates of authorities, PEM, trusted beside those that Node knows.' }),
  ),
  ...storeFields('request', { Type, object, text }),
});

/** As the API server writes it. */
const timePattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$';

const commonSchema = {
  store: Type.Optional(storeSchema),
  deadlineSeconds: Type.Integer({ minimum: 1, maximum: 7 * 24 * 3600, description: 'For everything.' }),
};

const fetchSchema = {
  object: text(2048, { minLength: 1, description: `Its whole name, like ${exampleBucket}/path.db.` }),
  ...commonSchema,
  identityFile: Type.Optional(path({ description: 'Private keys of age, one a line, to open what is encrypted.' })),
};

const sha256 = Type.Optional(
  text(64, { rules: [sha256Digest], description: 'Of the object as it is stored, if known.' }),
);

const howMany = Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 }));

const pruneSchema = {
  operation: Type.Enum(['prune']),
  prefix: text(2048, {
    minLength: 1,
    description: `What the names of all objects begin with, like ${exampleBucket}/path/.`,
  }),
  ...commonSchema,
  schedule: text(253, { minLength: 1, description: 'The UID of an EtcdBackupSchedule: only its backups may go.' }),
  keep: object({ last: howMany, hourly: howMany, daily: howMany, weekly: howMany, monthly: howMany }),
  timeZone: text(64, { minLength: 1, description: 'Of the IANA database, by which days begin.' }),
  most: Type.Integer({ minimum: 1, maximum: 10_000, description: 'Backups that one run deletes. The next goes on.' }),
  dryRun: Type.Optional(Type.Boolean({ description: 'Say what would go, and delete nothing.' })),
  spare: Type.Optional(
    list(text(253, { minLength: 1 }), 100, {
      description: 'EtcdBackups that are under way, by UID: what they made stays.',
    }),
  ),
};

const restorerSchema = object({
  id: text(253, { minLength: 1, description: 'The asker: a repeated attempt finds what an earlier one made.' }),
  attempt: Type.Integer({ minimum: 1, maximum: 999_999, description: 'Counted by the asker. No number comes twice.' }),
});

const stagedSchema = {
  restorer: restorerSchema,
  dataDirectory: path({ description: "etcd's, a subdirectory of the volume." }),
};

const startSeconds = Type.Integer({ minimum: 1, maximum: 24 * 3600, description: 'So long it may take to answer.' });

const bump = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'So many revisions ahead of the snapshot the restored store is to be.',
});

const programsSchema = object({
  directory: path({ description: 'An empty directory of the agent alone, with room for the snapshot twice.' }),
  etcd: path({ description: 'The program, of the version that took the snapshot.' }),
  etcdutl: path(),
});

const schemas = {
  backup: object({
    operation: Type.Enum(['backup']),
    id: text(253, {
      minLength: 1,
      description: 'The asker, like the UID of an EtcdBackup: asked again, the same backup is found.',
    }),
    schedule: Type.Optional(
      text(253, { minLength: 1, description: 'The UID of the EtcdBackupSchedule whose retention may delete it.' }),
    ),
    askedAt: Type.Optional(
      text(32, { pattern: timePattern, description: 'When it was asked for: it goes into the record.' }),
    ),
    ...fetchSchema,
    source: object({
      endpoints: list(text(1024, { minLength: 1 }), 32),
      outside: Type.Optional(
        Type.Boolean({ description: 'An author wrote these: the installation says which hosts may be asked.' }),
      ),
      clusterId: Type.Optional(text(16, { pattern: '^[0-9a-f]+$' })),
      tls: Type.Optional(
        object({
          directory: path({
            description: 'A mounted Secret with ca.crt, and tls.crt and tls.key if etcd asks for a certificate.',
          }),
          serverNames: Type.Optional(
            map<string>(text(253), 32, {
              description: "By endpoint: the name in its certificate. Default: the endpoint's host.",
            }),
          ),
        }),
      ),
    }),
    compression: Type.Optional(Type.Enum(['none', 'gzip', 'zstd'])),
    recipientsFile: Type.Optional(
      path({ description: 'Public keys of age, one a line: with it, the object is encrypted.' }),
    ),
    verify: Type.Optional(programsSchema),
  }),
  fetch: object({
    operation: Type.Enum(['fetch']),
    ...fetchSchema,
    file: path({ description: 'Where the snapshot is to lie.' }),
  }),
  restore: object({
    operation: Type.Enum(['restore']),
    id: text(253, {
      minLength: 1,
      description: 'The asker, like the UID of an EtcdRestore: asked again, what it restored is found.',
    }),
    ...fetchSchema,
    file: path({ description: 'Where the snapshot is to lie meanwhile; it stays.' }),
    dataDirectory: path({ description: "etcd's, a subdirectory of the volume." }),
    etcdutl: path({ description: 'The program, of the version that is to run.' }),
    member: object({
      name: text(253, { minLength: 1 }),
      peerUrl: text(1024, { minLength: 1 }),
      token: text(128, { minLength: 1 }),
      bumpRevision: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_000_000_000 })),
    }),
  }),
  stage: object({
    operation: Type.Enum(['stage']),
    ...fetchSchema,
    ...stagedSchema,
    version: text(32, { pattern: versionPattern, description: 'Of the etcd that is to run on the data.' }),
    sha256,
    revision: Type.Optional(Type.Integer({ minimum: 1, description: 'As the record says it, if known.' })),
    bump,
  }),
  place: object({
    operation: Type.Enum(['place']),
    ...stagedSchema,
    deadlineSeconds: commonSchema.deadlineSeconds,
    keeps: Type.Optional(
      text(64, {
        pattern: '^before-recovery-[0-9a-f]{12}$',
        description: 'The name that the data get which are there, and which what is placed was made of.',
      }),
    ),
    trial: Type.Optional(
      object({
        endpoint: text(1024, { minLength: 1, description: 'Of the etcd that was started on the copy.' }),
        startSeconds,
      }),
    ),
  }),
  'stage-trial': object({
    operation: Type.Enum(['stage-trial']),
    ...stagedSchema,
    deadlineSeconds: commonSchema.deadlineSeconds,
  }),
  'copy-own': object({
    operation: Type.Enum(['copy-own']),
    ...stagedSchema,
    deadlineSeconds: commonSchema.deadlineSeconds,
  }),
  'save-own': object({
    operation: Type.Enum(['save-own']),
    ...stagedSchema,
    deadlineSeconds: commonSchema.deadlineSeconds,
    endpoint: text(1024, { minLength: 1, description: 'Of the etcd that was started on the copy.' }),
    startSeconds,
    bump,
  }),
  verify: object({ operation: Type.Enum(['verify']), ...fetchSchema, scratch: programsSchema }),
  'stage-drill': object({
    operation: Type.Enum(['stage-drill']),
    ...fetchSchema,
    sha256,
    directory: path({
      description: 'The scratch volume of a drill. What lies in it where: manifests/render/scratch.ts.',
    }),
  }),
  compare: object({
    operation: Type.Enum(['compare']),
    ...fetchSchema,
    sha256,
    directory: path({ description: 'The same scratch volume.' }),
    endpoint: text(1024, { minLength: 1, description: 'Of the etcd that was started on what was restored.' }),
    startSeconds,
  }),
  look: object({
    operation: Type.Enum(['look']),
    object: fetchSchema.object,
    ...commonSchema,
    sha256: text(64, { rules: [sha256Digest], description: 'Of the object as it is stored.' }),
  }),
  prune: object(pruneSchema),
};

type Operation = keyof typeof schemas;
type OfOperation<K extends Operation> = ReadonlyDeep<Static<(typeof schemas)[K]>> & {
  readonly location: ObjectLocation;
};
export type BackupAsked = OfOperation<'backup'>;
export type PruneAsked = OfOperation<'prune'>;
type LookAsked = OfOperation<'look'>;
/** About an object in a store. */
export type ObjectRequest =
  | BackupAsked
  | OfOperation<'fetch'>
  | OfOperation<'restore'>
  | OfOperation<'stage'>
  | OfOperation<'verify'>
  | OfOperation<'stage-drill'>
  | OfOperation<'compare'>
  | LookAsked
  | PruneAsked;
/** About a volume alone. */
const ofVolumes = ['place', 'stage-trial', 'copy-own', 'save-own'] as const satisfies readonly Operation[];
type VolumeRequest = ReadonlyDeep<Static<(typeof schemas)[(typeof ofVolumes)[number]]>>;
export type AgentRequest = ObjectRequest | VolumeRequest;

const operations = Object.keys(schemas) as readonly Operation[];

/** @throws {BackupFailure} InvalidRequest with everything that is wrong with it. */
export function parseRequest(json: string): AgentRequest {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw invalid(['the request is no JSON'], cause);
  }
  const strange = notPlainData(value);
  if (strange !== undefined || !isPlainObject(value)) throw invalid([`the request ${strange ?? 'is no object'}`]);
  const operation = operations.find((known) => known === value.operation);
  if (operation === undefined) {
    const hint = typeof value.operation === 'string' ? didYouMean(value.operation, operations) : '';
    throw invalid([`operation must be one of ${operations.join(', ')}, is ${shown(value.operation)}${hint}`]);
  }
  const problems = collectProblems();
  walk(structural(schemas[operation]), value, [], problems);
  const found = problems.found.map(({ message }) => message);
  if (isPlainObject(value.source)) found.push(...problemsOf(value.source.endpoints));
  if (ofVolumes.some((one) => one === operation)) {
    if (found.length > 0) throw invalid(found);
    return value as unknown as AgentRequest;
  }
  const [field, parse] =
    operation === 'prune' ? (['prefix', parsePrefix] as const) : (['object', parseLocation] as const);
  const name = value[field];
  const location = typeof name === 'string' ? parse(name) : undefined;
  if (location !== undefined && 'problem' in location) found.push(`${field}: ${location.problem}`);
  if (operation === 'prune') found.push(...problemsOfZone(value.timeZone));
  if (found.length > 0 || location === undefined || 'problem' in location) throw invalid(found);
  const needed = requiredOf(location);
  if (needed !== undefined && fieldOf(value, needed) === undefined)
    throw invalid([`store.${needed} is required for a ${location.scheme}:// object`]);
  return { ...value, location } as unknown as AgentRequest;
}

function problemsOf(endpoints: unknown): readonly string[] {
  if (!Array.isArray(endpoints)) return [];
  if (endpoints.length === 0) return ['source.endpoints is empty: list at least one client URL of etcd'];
  const shape = new RegExp(etcdEndpointPattern);
  const wrong = endpoints.filter(
    (endpoint) => typeof endpoint !== 'string' || !shape.test(endpoint) || !URL.canParse(endpoint),
  );
  return wrong.map((endpoint) => `source.endpoints holds ${shown(endpoint)}: write it like https://10.0.0.1:2379`);
}

function problemsOfZone(timeZone: unknown): readonly string[] {
  const problem = typeof timeZone === 'string' ? problemOfTimeZone(timeZone) : undefined;
  return problem === undefined ? [] : [`timeZone: ${problem}`];
}

function fieldOf(value: Record<string, unknown>, field: string): unknown {
  return isPlainObject(value.store) ? value.store[field] : undefined;
}

function invalid(problems: readonly string[], cause?: unknown): BackupFailure {
  return new BackupFailure('InvalidRequest', `the request can't be carried out: ${problems.join('; ')}`, cause);
}
