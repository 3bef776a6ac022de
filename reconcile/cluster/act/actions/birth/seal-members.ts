import { isHigher, isSameMinor, minorText, parseVersion } from '../../../../../manifests/api/version.ts';
import type { VolumeRecord } from '../../../../../manifests/render/volume-record.ts';
import { each, type Program } from '../../../../requests/program.ts';
import type { SealedMember } from '../../../know/actions/birth.ts';
import { moved } from '../../../know/outcome.ts';
import { readDiskBehind } from '../../requests/disks.ts';
import { liveVolume, type VolumeRead, writeRecord } from '../../requests/volumes.ts';
import { defineAction, namesOf } from '../define.ts';
import { promoteLearner } from '../membership/promote-learner.ts';
import { followRecord } from '../volumes/following.ts';
import { applyShared } from './apply-shared.ts';

/**
 * Seals members that have started: first the volumes remember it, then the ConfigMaps follow and become immutable.
 *
 * A learner becomes a voter in the same step, where it is in sync. At the end of a birth clients come in: only now,
 * when every member is kept from starting empty again.
 *
 * Guards I5. A crash in between leaves ConfigMaps behind their volumes, which the next step mends before all else.
 */
export const sealMembers = defineAction('seal-members', {
  target: ({ members }) => namesOf(members),
  parts: ({ opens: _, promotes: __, minAvailable: ___, ...action }) =>
    action.members.map((member) => ({ ...action, members: [member] })),
  *run({ clusterId, members, opens, promotes, minAvailable = 0 }, cluster) {
    const sealed = yield* each(members, function* (member) {
      return { name: member.name, volume: yield* sealedVolume(member, clusterId) };
    });
    yield* each(sealed, ({ name, volume }) => followRecord(name, volume));
    const objects = ['client-service', ...(minAvailable > 0 ? (['disruption-budget'] as const) : [])] as const;
    if (opens) yield* applyShared.run({ kind: 'apply-shared', objects, minAvailable }, cluster);
    if (!promotes) return;
    for (const { name, memberId } of members)
      yield* promoteLearner.run({ kind: 'promote-learner', name, memberId, clusterId }, cluster);
  },
});

function* sealedVolume({ name, memberId, version, floor = 0 }: SealedMember, clusterId: string): Program<VolumeRead> {
  const found = yield* liveVolume(name);
  const { record, readAt } = found;
  if (record.state === 'sealed' && record.memberId === memberId) return found;
  if (!mayBeSealed.has(record.state)) throw moved(`volume ${name} is ${record.state}`);
  const { recovery: _, mayHaveStarted: __, ...rest } = record;
  const disk = yield* readDiskBehind({ readAt });
  const sealed: VolumeRecord = {
    ...rest,
    state: 'sealed',
    clusterId,
    memberId,
    version,
    ...bornOn(version, record),
    ...startingOn(version, record),
    ...beginningAt(Math.max(floor, record.revisionFloor ?? 0)),
    ...(disk && { disk }),
  };
  return { ...found, record: sealed, readAt: yield* writeRecord({ readAt, record: sealed }) };
}

/** What a snapshot was ahead of, where nothing said its revision, is known now. */
function beginningAt(revision: number): Pick<VolumeRecord, 'revisionFloor'> {
  return revision > 0 && Number.isSafeInteger(revision) ? { revisionFloor: revision } : {};
}

const mayBeSealed: ReadonlySet<VolumeRecord['state']> = new Set(['bootstrapping', 'joining', 'recovered', 'restored']);

/** It was told a higher version while its pod ran this one: its next pod may run that at any moment (I6). */
function startingOn(version: string, { version: told }: VolumeRecord): Partial<VolumeRecord> {
  return isHigher(told, version) ? { nextVersion: told } : {};
}

/**
 * A cluster that was planned on this minor, and forms on it, has no entry of another in raft's log: etcdutl of that
 * minor begins a new log.
 */
function bornOn(version: string, { state, version: planned }: VolumeRecord): Partial<VolumeRecord> {
  if ((state !== 'bootstrapping' && state !== 'restored') || !isSameMinor(planned, parseVersion(version))) return {};
  return { minorSince: { minor: minorText(parseVersion(version)), index: '0' } };
}
