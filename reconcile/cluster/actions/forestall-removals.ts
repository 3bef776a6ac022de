import { annotations, ordinalOf } from '../../../manifests/build/names.ts';
import { readVolumeRecord, type VolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import type { ListedMember } from '../../etcd.ts';
import { resources } from '../../kube.ts';
import { nameOf } from '../lost.ts';
import { moved } from '../outcome.ts';
import { type ActContext, listOursAnd } from './context.ts';

/**
 * Guards I2, before a removal is begun: no other one was. Whoever froze just when it marked another volume may have sent that request;
 * every other volume of a member is written to, so that it fails at the API server however late it arrives. Those of members that have
 * left were written to when they did, and copies that people made under other names are theirs.
 *
 * @throws {StepError} when a volume of another member says `releasing` by now. @throws {KubeError} `Conflict` when one is just written to.
 */
export async function forestallOtherRemovals(
  name: string,
  listed: readonly ListedMember[],
  context: ActContext,
): Promise<void> {
  const cluster = context.cluster.metadata.name;
  // By name as well: a claim that has lost its labels is as good a mark as any.
  const names = listed.map(nameOf).filter((member) => ordinalOf(cluster, member) !== undefined);
  const claims = await listOursAnd<PersistentVolumeClaim>(context, resources.volumeClaims, names);
  const others = claims.flatMap((claim) => {
    const other = claim.metadata.name;
    const read = readVolumeRecord(claim.metadata.annotations);
    if (other === name || ordinalOf(cluster, other) === undefined || read.kind !== 'valid') return [];
    return hasLeft(read.record) ? [] : [{ claim, record: read.record }];
  });
  const begun = others.find(({ record }) => isLeaving(record, listed))?.claim.metadata.name;
  if (begun !== undefined)
    throw moved(`the removal of ${begun} was begun as well, so ${name} stays until that is over`);
  await Promise.all(others.map(({ claim }) => writeTo(claim, context)));
}

function hasLeft({ state }: VolumeRecord): boolean {
  return state === 'released' || state === 'superseded';
}

function isLeaving({ state, memberId }: VolumeRecord, listed: readonly ListedMember[]): boolean {
  return state === 'releasing' && listed.some(({ id }) => id === memberId);
}

/** An update that changes nothing leaves the version as it is: so it says what that was. */
async function writeTo(claim: PersistentVolumeClaim, { kube, signal }: ActContext): Promise<void> {
  const { resourceVersion = '' } = claim.metadata;
  const changed = { ...claim.metadata.annotations, [annotations.stays]: resourceVersion };
  const metadata = { ...claim.metadata, annotations: changed };
  await kube.update<PersistentVolumeClaim>(resources.volumeClaims, { ...claim, metadata }, { signal });
}
