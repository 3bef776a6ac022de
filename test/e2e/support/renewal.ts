import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../manifests/render/cert-manager-certificate.ts';
import { type Kube, KubeError } from '../../../reconcile/interfaces/kube.ts';
import { conditionOf, issuingStatus } from './issuer-answers.ts';
import { until } from './until.ts';

const manually = { reason: 'ManuallyTriggered', message: 'Certificate re-issuance manually triggered' };

/**
 * Asks for a new certificate, as `cmctl renew` does; what it was before. `undefined`: there is no such Certificate, or
 * it changed meanwhile.
 */
export async function begun(kube: Kube, namespace: string, name: string): Promise<CertManagerCertificate | undefined> {
  const found = await kube.get<CertManagerCertificate>(certificateResource, namespace, name);
  if (!found) return undefined;
  try {
    const status = issuingStatus(found, manually);
    await kube.updateStatus<CertManagerCertificate>(certificateResource, { ...found, status });
    return found;
  } catch (error) {
    if (error instanceof KubeError && error.class === 'precondition') return undefined;
    throw error;
  }
}

export interface Renewal {
  readonly kube: Kube;
  readonly namespace: string;
  readonly name: string;
  /** Aborted when whoever answers has ended, and `ended` says why. */
  readonly signal: AbortSignal;
  readonly ended: Promise<void>;
}

/** Resolves when the new one is in its Secret and the status says so. @throws if it was refused. */
export async function renewed({ kube, namespace, name, signal, ended }: Renewal): Promise<void> {
  const what = `Certificate ${namespace}/${name}`;
  const before = await until(`${what} is to be renewed`, () => begun(kube, namespace, name));
  const revision = before.status?.revision ?? 0;
  const outcome = await until(`${what} is renewed`, async () => {
    if (signal.aborted) return 'stopped';
    const found = await kube.get<CertManagerCertificate>(certificateResource, namespace, name);
    if (!found) return 'deleted';
    if ((found.status?.revision ?? 0) > revision) return 'renewed';
    return conditionOf(found, 'Issuing')?.status === 'False' && 'refused';
  });
  if (outcome === 'stopped') await ended;
  if (outcome !== 'renewed') throw new Error(`${what} was not renewed: ${outcome}`);
}
