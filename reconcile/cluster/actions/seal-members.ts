import { isSameMinor, minorText, parseVersion } from '../../../manifests/api/version.ts';
import type { VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { ActionOf, SealedMember } from '../actions.ts';
import { moved } from '../outcome.ts';
import { type ActContext, liveVolume } from './context.ts';
import { followRecord } from './follow-volumes.ts';
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
  const records = await Promise.all(members.map((member) => sealVolume(member, clusterId, context)));
  await Promise.all(records.map(({ name, record }) => followRecord(name, record, context)));
}

async function sealVolume({ name, memberId, version }: SealedMember, clusterId: string, context: ActContext) {
  const { claim, record } = await liveVolume(context, name);
  if (record.state === 'sealed' && record.memberId === memberId) return { name, record };
  if (!mayBeSealed.has(record.state)) throw moved(`volume ${name} is ${record.state}`);
  const { recovery: _, mayHaveStarted: __, ...rest } = record;
  const sealed = { ...rest, state: 'sealed' as const, clusterId, memberId, version, ...bornOn(version, record) };
  await writeRecord(claim, sealed, context);
  return { name, record: sealed };
}

const mayBeSealed: ReadonlySet<VolumeRecord['state']> = new Set(['bootstrapping', 'joining', 'recovered']);

/** A cluster that was planned on this minor, and forms on it, has no entry of another in raft's log. */
function bornOn(version: string, { state, version: planned }: VolumeRecord): Partial<VolumeRecord> {
  if (state !== 'bootstrapping' || !isSameMinor(planned, parseVersion(version))) return {};
  return { minorSince: { minor: minorText(parseVersion(version)), index: '0' } };
}
