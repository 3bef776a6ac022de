import { authAfter } from '../act/requests/auth-model.ts';
import type { AuthHost } from '../act/requests/host.ts';
import type { KnownAuth, Observation } from '../know/observation.ts';

/** etcd's users as they were observed, and as they become by changes. */
export const observedAuth: AuthHost<Observation> = {
  seen: seenIn,
  change: (state, change) => ({ ...state, auth: authAfter(seenIn(state), change) }),
};

/** Where it was not asked, nothing is decided that would ask it. */
function seenIn({ auth }: Observation): KnownAuth {
  return auth?.kind === 'known' ? auth : { kind: 'known', enabled: false, revision: '1' };
}
