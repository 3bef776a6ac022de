import Type, { type Static } from 'typebox';
import { haltAboveSchema } from './rollout.ts';
import { int32, int64, list, object, type ReadonlyDeep, text, time } from './schema.ts';

export const mostSamples = 12;

const count = (description: string) => int64({ minimum: 0, description });

/** Of an EtcdCluster's status: what its members count, where its fleet halts on it. */
export const countersSchema = object(
  {
    members: int32({ minimum: 0, description: 'So many members.' }),
    processes: text(64, { description: 'A digest of which of their processes: counts are those since they started.' }),
    given: text(64, { description: 'A digest of the version and the configuration that they were given.' }),
    above: haltAboveSchema,
    samples: list(
      object({
        at: time({ description: 'When they were read.' }),
        leaderChanges: count('Of the leader, as the members saw it.'),
        failedProposals: count('Of all members, as the next ones.'),
        fsyncs: count('Of the write-ahead log.'),
        slowFsyncs: count('Of those: longer than above.walFsyncP99.'),
        commits: count('Of the database.'),
        slowCommits: count('Of those: longer than above.backendCommitP99.'),
      }),
      mostSamples,
      { description: 'What they were, the newest last.' },
    ),
    exceeded: Type.Optional(
      object(
        {
          at: time({ description: 'When they were beyond it last.' }),
          limit: text(32, { description: 'The field of above.' }),
        },
        { description: 'The limit that they were beyond last.' },
      ),
    ),
  },
  {
    description: 'What the members count, where the fleet halts on it (spec.rollout.haltAbove), of ten minutes.',
  },
);

export type ClusterCounters = ReadonlyDeep<Static<typeof countersSchema>>;
