import type { KubeCondition, KubeObject } from '../../../manifests/kube-types.ts';
import type { Kube, Resource } from '../../../reconcile/interfaces/kube.ts';
import { type Controller, startController } from './controller.ts';

/** What cert-manager makes for each certificate that it wants, and signs once it is approved. */
interface CertificateRequest extends KubeObject {
  readonly status?: { readonly conditions?: readonly KubeCondition[] };
}

const certificateRequests = {
  apiVersion: 'cert-manager.io/v1',
  kind: 'CertificateRequest',
  plural: 'certificaterequests',
} as const satisfies Resource;

export type Verdict = { readonly kind: 'approve' | 'hold' } | { readonly kind: 'deny'; readonly message: string };

/** Does what `cmctl approve` and `cmctl deny` do, by the name of the Certificate that a request belongs to. */
export function startApprover(
  { kube, namespace, signal }: { kube: Kube; namespace: string; signal: AbortSignal },
  verdictOn: (certificate: string) => Verdict,
): Controller {
  async function attend(): Promise<number> {
    const { items } = await kube.list<CertificateRequest>(certificateRequests, { namespace, signal });
    for (const request of items) if (!isDecided(request)) await decide(request);
    return Number.POSITIVE_INFINITY;
  }

  async function decide(request: CertificateRequest): Promise<void> {
    const verdict = verdictOn(request.metadata.annotations?.['cert-manager.io/certificate-name'] ?? '');
    if (verdict.kind === 'hold') return;
    const condition = {
      type: verdict.kind === 'deny' ? 'Denied' : 'Approved',
      status: 'True',
      reason: 'TestPolicy',
      message: verdict.kind === 'deny' ? verdict.message : 'approved by the test',
      lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
    } as const;
    const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] };
    await kube.updateStatus<CertificateRequest>(certificateRequests, { ...request, status }, { signal });
  }

  return startController({ kube, namespace, watched: [certificateRequests], attend, signal });
}

function isDecided({ status }: CertificateRequest): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied');
}
