import { authoritySecretName } from '../../../../../manifests/render/certificate-names.ts';
import { each, type Program } from '../../../../requests/program.ts';
import type { LeafOrder } from '../../../know/actions/certificates.ts';
import type { Validity } from '../../../know/certificates/validity.ts';
import { moved } from '../../../know/outcome.ts';
import { ourAuthority } from '../../requests/authorities.ts';
import { ownerOf, ownLeaf, signLeaf, trustBesideLeaf } from '../../requests/leaves.ts';
import type { Leased } from '../define.ts';

/**
 * Signs leaves, or writes beside them which CAs to trust: side by side, because no leaf depends on another.
 *
 * Guards the trust: the CAs are read again just before, so that no leaf is signed by one that was replaced meanwhile.
 */
export function* issueLeaves(leaves: readonly LeafOrder[], validity: Validity, cluster: Leased): Program {
  const needed = [...new Set(leaves.map(({ plan }) => plan.authority))];
  const authorities = yield* each(needed, ourAuthority);
  yield* each(leaves, function* (order) {
    const { plan, remedy } = order;
    const owner = yield* ownerOf(order, cluster);
    const authority = authorities[needed.indexOf(plan.authority)];
    if (!authority?.facts) throw moved(`Secret ${authoritySecretName(cluster.name, plan.authority)} has gone`);
    const found = yield* ownLeaf(plan, owner);
    if (remedy === 'bundle' && found) {
      yield* trustBesideLeaf({
        plan,
        owner,
        readAt: found.readAt,
        authority: authority.readAt,
        at: validity.notBefore,
      });
    } else {
      const readAt = found && { readAt: found.readAt };
      yield* signLeaf({ plan, owner, ...readAt, authority: authority.readAt, validity });
    }
  });
}
