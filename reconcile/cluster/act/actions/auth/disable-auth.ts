import { changeAuth } from '../../requests/auth.ts';
import { defineAction } from '../define.ts';
import { requireAsSeen } from './keep-users.ts';

/** From now on etcd lets in each client that its CA signed, and asks for no user. Users and roles stay. */
export const disableAuth = defineAction('disable-auth', {
  target: () => undefined,
  *run(action) {
    yield* requireAsSeen(action);
    yield* changeAuth({ clusterId: action.clusterId, change: { op: 'disable' } });
  },
});
