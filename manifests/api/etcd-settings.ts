import Type from 'typebox';
import { durationBetween, quantityBetween, wholeMilliseconds } from './common-rules.ts';
import { durationPattern, isDuration, longestDurationText, parseDuration } from './duration.ts';
import { ownGates, reservedBecause, reservedFlags, reservedPrefixes } from './reserved-flags.ts';
import { rule } from './rule.ts';
import { int64, intOrString, map, object, text } from './schema.ts';

interface Timing {
  heartbeatInterval?: string;
  electionTimeout?: string;
}

/** etcd refuses to start otherwise (`checkEtcdConfig` in embed/config.go); its defaults count where we set nothing. */
const electionFollowsHeartbeat = rule<Timing>({
  message: 'electionTimeout (1s unless set) must be at least five times heartbeatInterval (100ms unless set)',
  cel: [
    `!(has(self.heartbeatInterval) || has(self.electionTimeout))`,
    `(has(self.heartbeatInterval) && !self.heartbeatInterval.matches('${durationPattern}'))`,
    `(has(self.electionTimeout) && !self.electionTimeout.matches('${durationPattern}'))`,
    `[has(self.heartbeatInterval) ? duration(self.heartbeatInterval) : duration('100ms')].all(beat, beat + beat + beat + beat + beat <= (has(self.electionTimeout) ? duration(self.electionTimeout) : duration('1s')))`,
  ].join(' || '),
  holds: ({ heartbeatInterval = '100ms', electionTimeout = '1s' }) =>
    parseDuration(heartbeatInterval) * 5 <= parseDuration(electionTimeout),
});

interface Compaction {
  mode: 'Periodic' | 'Revision';
  retention: string | number;
}

/** A bare number is hours to etcd when periodic; we read it the same way rather than surprise. */
const retentionFitsMode = rule<Compaction>({
  message: 'retention must be a duration like 1h or a number of hours (Periodic), or a number of revisions (Revision)',
  cel: `string(self.retention).matches('^[1-9][0-9]{0,8}$') || (self.mode == 'Periodic' && string(self.retention).matches('${durationPattern}') && duration(string(self.retention)) >= duration('1s'))`,
  holds: ({ mode, retention }) =>
    /^[1-9][0-9]{0,8}$/.test(String(retention)) ||
    (mode === 'Periodic' && isDuration(retention) && parseDuration(retention) >= 1000),
});

const flag = '^[a-z][a-z0-9-]*$';
const isFlag = new RegExp(flag);
const celList = (items: readonly string[]) => `[${items.map((item) => `'${item}'`).join(', ')}]`;

const flagsAreFlags = rule<Record<string, string>>({
  message: 'must be named like flags of etcd without the dashes: max-txn-ops',
  cel: `self.all(name, name.matches('${flag}'))`,
  holds: (args) => Object.keys(args).every((name) => isFlag.test(name)),
});

const flagsAreFree = rule<Record<string, string>>({
  ofPeople: true,
  message:
    'must not set what etcd-ratchet decides: identity, membership, addresses, the data directory, or a flag with its own field',
  cel: `self.all(name, !(name in ${celList(Object.keys(reservedFlags))}) && !name.matches('^(${Object.keys(reservedPrefixes).join('|')})'))`,
  holds: (args) => Object.keys(args).every((name) => reservedBecause(name) === undefined),
  explain: (args) =>
    Object.keys(args)
      .filter((name) => reservedBecause(name) !== undefined)
      .map((name) => `${name}: ${reservedBecause(name)}`)
      .join('; '),
});

const gate = '^[A-Z][A-Za-z0-9]*$';

const gatesAreGates = rule<Record<string, boolean>>({
  message: 'must be named like feature gates of etcd: LeaseCheckpoint',
  cel: `self.all(name, name.matches('${gate}'))`,
  holds: (gates) => Object.keys(gates).every((name) => new RegExp(gate).test(name)),
});

const gatesAreFree = rule<Record<string, boolean>>({
  ofPeople: true,
  message: `must not set ${ownGates.join(' or ')}: the corruption checks are set for you`,
  cel: `self.all(name, !(name in ${celList(ownGates)}))`,
  holds: (gates) => Object.keys(gates).every((name) => !ownGates.includes(name)),
});

/** etcd refuses to start otherwise (`Validate` in embed/config.go). */
const persistNeedsCheckpoint = rule<Record<string, boolean>>({
  message: 'LeaseCheckpointPersist needs LeaseCheckpoint',
  cel: `!('LeaseCheckpointPersist' in self && self['LeaseCheckpointPersist']) || ('LeaseCheckpoint' in self && self['LeaseCheckpoint'])`,
  holds: ({ LeaseCheckpoint = false, LeaseCheckpointPersist = false }) => !LeaseCheckpointPersist || LeaseCheckpoint,
});

export const etcdSchema = object(
  {
    quotaBackendBytes: Type.Optional(
      intOrString({
        description: 'A quantity like 6Gi, smaller than the volume. Absent: follows the volume.',
        rules: [quantityBetween('1Mi', '1Pi')],
      }),
    ),
    autoCompaction: Type.Optional(
      object(
        {
          mode: Type.Enum(['Periodic', 'Revision'], {
            description: 'Whether history goes by its age, or by its length.',
          }),
          retention: intOrString({
            maxLength: longestDurationText,
            description: 'A duration like 1h (Periodic), or a number of revisions (Revision).',
          }),
        },
        { description: 'Absent: etcd keeps every revision, as is its own default.', rules: [retentionFitsMode] },
      ),
    ),
    heartbeatInterval: Type.Optional(
      text(longestDurationText, {
        description: 'A duration like 100ms.',
        rules: [durationBetween('1ms', '10s'), wholeMilliseconds],
      }),
    ),
    electionTimeout: Type.Optional(
      text(longestDurationText, {
        description: 'A duration like 1s, at least five heartbeats.',
        // etcd's own upper limit (`maxElectionMs`).
        rules: [durationBetween('5ms', '50s'), wholeMilliseconds],
      }),
    ),
    snapshotCount: Type.Optional(
      int64({ minimum: 1, maximum: 10_000_000, description: 'Applied entries between two snapshots of raft.' }),
    ),
    featureGates: Type.Optional(
      map<boolean>(Type.Boolean(), 32, {
        description:
          'Feature gates of etcd, each on or off, like LeaseCheckpoint: true. Etcd 3.5 has flags in their place, which are set instead.',
        rules: [gatesAreGates, gatesAreFree, persistNeedsCheckpoint],
      }),
    ),
    extraArgs: Type.Optional(
      map<string>(text(1024), 64, {
        description:
          'Further flags of etcd, without dashes. A flag that another field or etcd-ratchet sets is refused.',
        rules: [flagsAreFlags, flagsAreFree],
      }),
    ),
  },
  { description: "etcd's own settings.", rules: [electionFollowsHeartbeat] },
);
