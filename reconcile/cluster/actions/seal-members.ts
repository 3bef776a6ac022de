import { isSameMinor, minorText, parseVersion } from '../../../manifests/api/version.ts';
import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ActionOf, SealedMember } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, liveVolume } from './context.ts';
import { followRecord } from './follow-volumes.ts';
import { diskBehind } from './live-disk.ts';
import { writeRecord } from './volume-state.ts';

/**
 * Seals members that have started: first the volumes remember it, then the ConfigMaps follow and become immutable.
 *
 * Guards I5. A crash in between leaves ConfigMaps behind their volumes, which the next step mends before all else.
 */
export async function sealMembers(
  { clusterId, members }: ActionOf<'seal-members'>,
  context: ActContext,
): Promise<void> {
  const volumes = await Promise.all(members.map((member) => sealVolume(member, clusterId, context)));
  await Promise.all(volumes.map((volume) => followRecord(volume, context)));
}

async function sealVolume({ name, memberId, version }: SealedMember, clusterId: string, context: ActContext) {
  const { claim, record } = await liveVolume(context, name);
  if (record.state === 'sealed' && record.memberId === memberId) return { claim, record };
  if (!mayBeSealed.has(record.state)) throw moved(`volume ${name} is ${record.state}`);
  const { recovery: _, mayHaveStarted: __, ...rest } = record;
  const disk = await diskBehind(claim, context);
  const sealed = {
    ...rest,
    state: 'sealed' as const,
    clusterId,
    memberId,
    version,
    ...bornOn(version, record),
    ...(disk && { disk }),
  };
  return { claim: await writeRecord(claim, sealed, context), record: sealed };
}

const mayBeSealed: ReadonlySet<VolumeRecord['state']> = new Set(['bootstrapping', 'joining', 'recovered']);

/** A cluster that was planned on this minor, and forms on it, has no entry of another in raft's log. */
function bornOn(version: string, { state, version: planned }: VolumeRecord): Partial<VolumeRecord> {
  if (state !== 'bootstrapping' || !isSameMinor(planned, parseVersion(version))) return {};
  return { minorSince: { minor: minorText(parseVersion(version)), index: '0' } };
}
