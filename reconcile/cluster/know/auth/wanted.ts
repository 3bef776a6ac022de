import { type AuthSpec, rootName } from '../../../../manifests/api/auth-settings.ts';
import type { TlsMode } from '../../../../manifests/api/tls-settings.ts';
import { hashOf } from '../../../../manifests/render/inputs-hash.ts';
import type { Right } from '../../../interfaces/etcd-auth.ts';
import { leavesOfCluster, namesOfLeaves } from '../certificates/wanted.ts';
import type { Observation } from '../observation.ts';
import { rightOf } from './ranges.ts';

/** Users and roles as they are to be, also those that etcd, and we, can't do without. */
export interface WantedAuth {
  readonly enabled: boolean;
  /** Whom etcd takes us for. */
  readonly own: string;
  /** The Secret of the certificate that tells it. */
  readonly secretName: string;
  /** The roles of each user. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  /** The rights of each role. That of root is etcd's own, and has none that can be changed. */
  readonly roles: ReadonlyMap<string, readonly Right[]>;
}

/** `undefined`: it is left as it is. */
export function wantedAuth(
  auth: AuthSpec | undefined,
  { cluster, slots }: Pick<Observation, 'cluster' | 'slots'>,
  mode: TlsMode,
): WantedAuth | undefined {
  if (!auth || (mode !== 'Managed' && mode !== 'CertManager')) return undefined;
  const [ours] = leavesOfCluster(cluster, mode, namesOfLeaves(cluster, slots, mode));
  if (!ours) return undefined;
  const own = ours.commonName ?? rootName;
  const { mode: asked, users = [], roles = [] } = auth;
  return {
    enabled: asked === 'Enabled',
    own,
    secretName: ours.secretName,
    users: new Map([
      ...users.map((user) => [user.name, [...new Set(user.roles)].toSorted()] as const),
      [rootName, [rootName]],
      [own, [rootName]],
    ]),
    roles: new Map([
      ...roles.map((role) => [role.name, widest((role.rights ?? []).map(rightOf))] as const),
      [rootName, []],
    ]),
  };
}

/** etcd has one right for a range: of two the spec means both. */
function widest(rights: readonly Right[]): readonly Right[] {
  const byRange = Map.groupBy(rights, ({ key, rangeEnd }) => `${key} ${rangeEnd}`);
  return [...byRange.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const isOne = others.every(({ access }) => access === first.access);
    return [{ ...first, access: isOne ? first.access : ('ReadWrite' as const) }];
  });
}

/** As one word: while etcd's revision and this are what status has, nothing else has to be read. */
export function hashOfWanted({ enabled, own, users, roles }: WantedAuth): string {
  return hashOf({ enabled, own, users: [...users], roles: [...roles] });
}
