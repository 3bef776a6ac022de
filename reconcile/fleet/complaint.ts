import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { fleetKinds, isClusterScoped, isFleetKind } from '../../manifests/api/fleet-kinds.ts';
import { kubectl } from '../../manifests/render/kubectl.ts';
import { isReason, type KubeError } from '../interfaces/kube.ts';
import { withCure } from '../reasons/cure.ts';
import { serviceAccountOf } from './account.ts';
import { calledOf } from './objects.ts';
import type { DesiredSpec } from './reading.ts';

/** Server-side apply's own 409: another field manager holds a field. The other kind of 409 means "read it again". */
export function isFieldConflict(error: unknown): error is KubeError {
  return isReason(error, 'Conflict') && /conflicts? with "/.test(error.message);
}

/** Whose fields a field conflict is about. */
export function managersIn({ message }: KubeError): readonly string[] {
  return [...message.matchAll(/conflicts? with "([^"]+)"/g)].flatMap(([, manager]) => manager ?? []);
}

/** What the API server's "no" means for one document, with what to do about it. */
export function complaintFor(
  error: KubeError,
  { kind, namespace, name }: Pick<DesiredSpec, 'kind' | 'namespace' | 'name'>,
  fleet: EtcdFleet,
): string {
  const called = calledOf(kind, { namespace, name });
  switch (error.reason) {
    case 'Forbidden':
      return forbidden(error, kind, called, namespace, fleet);
    case 'Invalid':
    case 'BadRequest':
      return `${called} is refused by the API server: ${serversWords(error)}`;
    case 'NotFound':
      if (isClusterScoped(kind))
        return withCure(`${called}: its kind is not installed`, 'apply the CRDs of etcd-ratchet');
      return withCure(`${called}: namespace ${namespace} does not exist`, 'create it (etcd-ratchet creates none)');
    default:
      if (isFieldConflict(error)) return conflict(error, called);
      return `${called}: ${serversWords(error)}`;
  }
}

/** RBAC names the account and the right; a person needs the Role that is missing. */
function forbidden(error: KubeError, kind: string, called: string, namespace: string, fleet: EtcdFleet): string {
  const account = serviceAccountOf(fleet);
  // Admission (a quota, a policy, a namespace that is being deleted) answers 403 too, in its own words.
  const verb = /cannot (?<verb>[a-z]+) resource/.exec(error.message)?.groups?.verb;
  if (!verb) return `${called} is forbidden: ${serversWords(error)}`;
  if (verb === 'impersonate') {
    return withCure(
      `etcd-ratchet may not act as service account ${account.namespace}/${account.name}`,
      `add the name to resourceNames of Role etcd-ratchet-fleet-host in namespace ${account.namespace}`,
    );
  }
  const plural = isFleetKind(kind) ? fleetKinds[kind].plural : kind;
  // Not with the rights in a namespace: a person with this one runs commands as root on every node.
  if (isClusterScoped(kind))
    return withCure(
      `service account ${account.namespace}/${account.name} may not ${verb} ${plural}`,
      `let the fleet in, as a cluster administrator: kubectl create clusterrolebinding etcd-ratchet-fleet-nodes --clusterrole=etcd-ratchet-fleet-nodes --serviceaccount=${account.namespace}:${account.name}`,
    );
  return withCure(
    `service account ${account.namespace}/${account.name} may not ${verb} ${plural} in namespace ${namespace}`,
    `let the fleet in: ${kubectl({ namespace }, `create rolebinding etcd-ratchet-fleet --clusterrole=etcd-ratchet-fleet --serviceaccount=${account.namespace}:${account.name}`)}; ` +
      `if there is no namespace ${namespace} yet, create it first (etcd-ratchet creates none)`,
  );
}

function conflict(error: KubeError, called: string): string {
  const manager = /conflicts? with "(?<manager>[^"]+)"/.exec(error.message)?.groups?.manager ?? 'another client';
  const fields = [...error.message.matchAll(/(?:: |- )(?<field>\.[A-Za-z][^\s,]*)/g)].map(
    (match) => match.groups?.field,
  );
  const what = fields.length > 0 ? ` (${[...new Set(fields)].slice(0, 5).join(', ')})` : '';
  const fleet = /^etcd-ratchet-fleet-(?<name>.+)$/.exec(manager)?.groups?.name;
  const owner = fleet ? `fleet ${fleet}` : `field manager ${manager}`;
  return withCure(
    `${called} has fields${what} that ${owner} applied with other values: nothing is taken over`,
    'let only one of the two set them',
  );
}

/** Without our own prefix (`PATCH etcdclusters a/b: 422 Invalid`) and the object's name, which the author knows. */
function serversWords({ message }: KubeError): string {
  return message
    .replace(/^[A-Z]+ \S+ \S+: /, '')
    .replace(/^\d{3} [A-Za-z]+ /, '')
    .replace(/^\(?Etcd[A-Z]\S* "[^"]*" is invalid: /, '');
}
