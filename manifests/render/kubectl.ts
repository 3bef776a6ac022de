import type { Approval } from '../api/approval.ts';
import { group } from '../api/group.ts';
import type { definitions } from '../api/kinds.ts';
import { approverOf } from './names.ts';

type Plural = (typeof definitions)[keyof typeof definitions]['plural'];

/** A command for a person to copy. Without `-n` it would look into the namespace of their context. */
export function kubectl(
  { namespace = 'default' }: { readonly namespace?: string | undefined },
  command: string,
): string {
  return `kubectl -n ${namespace} ${command}`;
}

/** The same of the plugin, which takes options only after its own name. */
export function kubectlRatchet(namespace: string, command: string): string {
  return `kubectl ratchet -n ${namespace} ${command}`;
}

/** With its group: the short names are those of other etcd operators, too, and kubectl would pick any. */
export function resourceName(plural: Plural): string {
  return `${plural}.${group}`;
}

/** For a shell: what Kubernetes calls the person who types it. */
const whoApproves = '"$(kubectl auth whoami -o jsonpath={.status.userInfo.username})"';

/** The command that gives an approval, for a person to copy. */
export function approveCommand(
  plural: Plural,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
  { annotation, value }: Pick<Approval, 'annotation' | 'value'>,
): string {
  const approver = `${approverOf(annotation)}=${whoApproves}`;
  return kubectl(
    { namespace },
    `annotate --overwrite ${resourceName(plural)} ${name} ${approver} ${annotation}=${value}`,
  );
}
