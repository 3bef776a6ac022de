import Type, { type Static } from 'typebox';
import { durationBetween, objectName } from './common-rules.ts';
import { longestDurationText } from './duration.ts';
import { labelsToSelect } from './network-policy.ts';
import { matching, rule } from './rule.ts';
import { int32, intOrString, list, object, type ReadonlyDeep, text } from './schema.ts';

export const countOrShare = rule<number | string>({
  message: 'must be a number from 1 on or a percentage from 1% to 100%; to stop a fleet, use suspend',
  cel: `string(self).matches('^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$')`,
  holds: (value) => /^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$/.test(String(value)),
});

const selectsSome = rule<Readonly<Record<string, string>>>({
  message: 'must name at least one label: the clusters that no stage selects come after all stages',
  cel: 'size(self) > 0',
  holds: (labels) => Object.keys(labels).length > 0,
});

const namesAreTold = rule<readonly { readonly name: string }[]>({
  message: 'must have at least one stage, each with another name; without spec.rollout there are none',
  cel: 'size(self) > 0 && self.all(one, self.exists_one(other, other.name == one.name))',
  holds: (stages) => stages.length > 0 && new Set(stages.map(({ name }) => name)).size === stages.length,
});

/**
 * The bounds of the buckets in which etcd counts how long these take, in each of its minors that we run:
 * `ExponentialBuckets(0.001, 2, 14)`, server/storage/wal/metrics.go and server/storage/backend/metrics.go.
 */
export const latencies = Array.from({ length: 14 }, (_, n) => `${2 ** n}ms`);

const aBucket = matching(
  `^(${latencies.join('|')})$`,
  'must be a bound of the buckets of etcd: 1ms, 2ms, 4ms and so on to 8192ms',
);

function latency(description: string) {
  return Type.Optional(text(6, { description, rules: [aBucket] }));
}

const limitsSome = rule<Readonly<Record<string, unknown>>>({
  message: 'must name at least one limit; without haltAbove no count halts a rollout',
  cel: 'has(self.leaderChanges) || has(self.failedProposals) || has(self.walFsyncP99) || has(self.backendCommitP99)',
  holds: (limits) => Object.keys(limits).length > 0,
});

/** What members count, and how much of it a cluster may have that is called well. */
export const haltAboveSchema = object(
  {
    leaderChanges: Type.Optional(
      int32({ minimum: 0, maximum: 1000, description: 'Changes of the leader that the members saw, in ten minutes.' }),
    ),
    failedProposals: Type.Optional(
      int32({ minimum: 0, maximum: 1_000_000, description: 'Proposals that failed, of all members, in ten minutes.' }),
    ),
    walFsyncP99: latency('What 99 of 100 fsyncs of the write-ahead log take at most, like 512ms.'),
    backendCommitP99: latency('What 99 of 100 commits of the database take at most, like 256ms.'),
  },
  {
    rules: [limitsSome],
    description:
      'Beyond any of these, in a cluster of the fleet and for as long as the soak of its stage, no other cluster of its stage and of those after begins. Read from the metrics port of the members.',
  },
);

const notOurs = rule<string>({
  message: 'must not be one of etcd-ratchet itself, which fails while a rollout is halted',
  cel: "!self.matches('(?i)^etcd-ratchet/')",
  holds: (context) => !/^etcd-ratchet\//i.test(context),
});

/** Without its forge, nothing tells of them. */
export const statusesAreTold = rule<{
  readonly rollout?: { readonly haltOnStatuses?: unknown };
  readonly forge?: object;
}>({
  message: 'rollout.haltOnStatuses needs forge, where those commit statuses are',
  cel: '!has(self.rollout) || !has(self.rollout.haltOnStatuses) || has(self.forge)',
  holds: ({ rollout, forge }) => rollout?.haltOnStatuses === undefined || forge !== undefined,
  fieldPath: '.rollout.haltOnStatuses',
});

/** Of an EtcdFleet: the order in which its clusters take what a commit changes. */
export const rolloutSchema = object(
  {
    stages: list(
      object({
        name: text(30, { description: 'What messages call it.', rules: [objectName] }),
        matchLabels: labelsToSelect(
          'Labels that a cluster of this stage has. It belongs to the first stage that selects it.',
          [selectsSome],
          2,
        ),
        soak: Type.Optional(
          text(longestDurationText, {
            description:
              'For how long all of its clusters must have been well since their last restart, before the next stage begins.',
            rules: [durationBetween('1m', '2160h')],
          }),
        ),
        maxClustersInProgress: Type.Optional(
          intOrString({
            maxLength: 6,
            description:
              'How many clusters of this stage may be changed at once, a number or a percentage of them; that of the fleet holds as well.',
            rules: [countOrShare],
          }),
        ),
      }),
      6,
      { description: 'In order. Clusters that none of them selects come last.', rules: [namesAreTold] },
    ),
    haltAbove: Type.Optional(haltAboveSchema),
    haltOnStatuses: Type.Optional(
      list(text(100, { description: 'A context: what the forge shows it as.', rules: [notOurs] }), 3, {
        description:
          'Commit statuses of others. While one of them is a failure on the commit that was applied last, no cluster begins to take it; later stages begin when they were read.',
      }),
    ),
  },
  {
    description:
      'Another version, configuration or pod template begins in a cluster only when every cluster of the stages before has it and is well. Sizes, births and healing wait for no stage.',
  },
);

export type HaltAbove = ReadonlyDeep<Static<typeof haltAboveSchema>>;
