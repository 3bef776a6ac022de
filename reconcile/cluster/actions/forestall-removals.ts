import { annotations } from '../../../manifests/build/names.ts';
import { readVolumeRecord } from '../../../manifests/build/volume-record.ts';
import type { PersistentVolumeClaim } from '../../../manifests/kube-types.ts';
import type { ListedMember } from '../../etcd.ts';
import { resources } from '../../kube.ts';
import { moved } from '../outcome.ts';
import { type ActContext, listOurs } from './context.ts';

/**
 * Guards I2, before a removal is begun: no other one was. Whoever froze just when it marked another volume may have sent that request;
 * every other volume is written to, so that it fails at the API server however late it arrives.
 *
 * @throws {StepError} when a volume of another member says `releasing` by now. @throws {KubeError} `Conflict` when one is just written to.
 */
export async function forestallOtherRemovals(
  name: string,
  listed: readonly ListedMember[],
  context: ActContext,
): Promise<void> {
  const claims = await listOurs<PersistentVolumeClaim>(context, resources.volumeClaims);
  const others = claims.filter(({ metadata }) => metadata.name !== name);
  const begun = others.find((claim) => isLeaving(claim, listed));
  if (begun)
    throw moved(`the removal of ${begun.metadata.name} was begun as well, so ${name} stays until that is over`);
  await Promise.all(others.map((claim) => writeTo(claim, context)));
}

function isLeaving({ metadata }: PersistentVolumeClaim, listed: readonly ListedMember[]): boolean {
  const read = readVolumeRecord(metadata.annotations);
  if (read.kind !== 'valid' || read.record.state !== 'releasing') return false;
  return listed.some(({ id }) => id === read.record.memberId);
}

/** An update that changes nothing leaves the version as it is: so it says what that was. */
async function writeTo(claim: PersistentVolumeClaim, { kube, signal }: ActContext): Promise<void> {
  const { resourceVersion = '' } = claim.metadata;
  const changed = { ...claim.metadata.annotations, [annotations.stays]: resourceVersion };
  const metadata = { ...claim.metadata, annotations: changed };
  await kube.update<PersistentVolumeClaim>(resources.volumeClaims, { ...claim, metadata }, { signal });
}
