import type { ListedMember } from '../../../../interfaces/etcd.ts';
import { each, type Program } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { listOtherVolumes, namesOf, touchVolume } from '../../requests/volumes.ts';

/**
 * Guards I2, before the member list is changed: no other removal was begun. An invocation that froze just when it
 * marked another volume may have sent that request; every other volume of a member is written to, so that it fails at
 * the API server however late it arrives. The volumes of members that have left were written to when they did, and
 * copies that people made under other names are theirs.
 *
 * @throws {StepError} when a volume of another member says `releasing` by now, or one is just written to.
 */
export function* forestallOtherRemovals(name: string, listed: readonly ListedMember[]): Program {
  const all = yield* listOtherVolumes({ name, listed: namesOf(listed) });
  const others = all.filter(({ state }) => state !== 'released' && state !== 'superseded');
  const begun = others.find((one) => one.state === 'releasing' && listed.some(({ id }) => id === one.memberId));
  if (begun) throw moved(`the removal of ${begun.name} was begun as well, so ${name} stays until that is over`);
  yield* each(others, ({ readAt }) => touchVolume({ readAt }));
}
