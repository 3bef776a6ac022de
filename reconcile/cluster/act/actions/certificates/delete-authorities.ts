import { authoritySecretName } from '../../../../../manifests/render/certificate-names.ts';
import { moved } from '../../../know/outcome.ts';
import { deleteAuthority, readAuthority } from '../../requests/authorities.ts';
import { defineAction, namesOf } from '../define.ts';

const both = ['peer', 'client'] as const;

/**
 * Deletes the CAs of a cluster that is being deleted together with its volumes: no member is left that could trust
 * them.
 */
export const deleteAuthorities = defineAction('delete-authorities', {
  target: ({ secrets }) => namesOf(secrets),
  *run({ secrets }, cluster) {
    if (!cluster.deleting) throw moved(`${cluster.name} is not being deleted`);
    for (const { name, uid } of secrets) {
      const authority = both.find((one) => authoritySecretName(cluster.name, one) === name);
      const found = authority && (yield* readAuthority({ authority }));
      if (authority && found?.ours && found.uid === uid) {
        yield* deleteAuthority({ authority, uid, readAt: found.readAt });
      }
    }
  },
});
