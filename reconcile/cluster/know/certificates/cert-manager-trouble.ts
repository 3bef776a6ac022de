import type { KubeError, Resource } from '../../../interfaces/kube.ts';
import { withCure } from '../../../reasons/cure.ts';
import type { Trouble } from '../observation.ts';

/** What keeps cert-manager from being asked, or from answering, and what a person does about it. */

/** How long an object may have no status of cert-manager before a person is told, in milliseconds. */
const patience = 2 * 60_000;

export function isSilent(said: { readonly reason: string }, createdAt: Date, at: Date): boolean {
  return said.reason === 'NotObserved' && at.getTime() - createdAt.getTime() > patience;
}

export function kindText({ kind, apiVersion }: Resource): string {
  return `${kind} (${apiVersion})`;
}

/** The API server does not serve that kind. */
export function notInstalled(message: string) {
  const cure = 'install cert-manager, with its custom resource definitions';
  return { reason: 'CertManagerNotInstalled', message, cure } as const;
}

/** @param what was asked of the API server, as in "list that kind" */
export function whyNotRead({ status, message }: KubeError, what: string): Trouble {
  if (status !== 401 && status !== 403) return { reason: 'CertManagerUnreachable', message };
  return {
    reason: 'CertManagerForbidden',
    message: `etcd-ratchet may not ${what}`,
    cure: 'add the component manifests/install/components/cert-manager to the installation',
  };
}

/** Of a condition, which is False then. */
export function troubleStatement({ reason, message, cure }: Trouble) {
  return { status: 'False', reason, message: cure === undefined ? message : withCure(message, cure) } as const;
}
