import { EtcdError } from '../../interfaces/etcd.ts';
import { KubeError } from '../../interfaces/kube.ts';
import { withCure } from '../../reasons/cure.ts';
import { reasonOfApi } from '../../reasons/reasons.ts';
import type { RefusalReason } from '../../reasons/refusals.ts';
import { type Failure, StepError } from '../../requests/refusals.ts';

/** How carrying out a decision went. */
export type Outcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'acted' }
  /** Another invocation was faster: nothing was done, and nothing is reported over its report. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** The world moved since the decision: look again. */
export function moved(message: string): StepError {
  return new StepError({ class: 'precondition', reason: 'WorldMoved', message });
}

/** A person must do something before this can go on. */
export function needsPerson(reason: RefusalReason, message: string): StepError {
  return new StepError({ class: 'terminal', reason, message });
}

export function failureOf(error: unknown): Failure {
  if (error instanceof StepError) return error.failure;
  if (error instanceof KubeError) {
    const { class: kind, reason, message } = error;
    return {
      class: kind,
      reason: reasonOfApi(reason),
      message: kind === 'terminal' ? withCure(message, cureOf(error)) : message,
    };
  }
  if (error instanceof EtcdError) return ofEtcd(error);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return { class: 'retryable', reason: 'Timeout', message: 'the step ran out of time' };
  }
  return { class: 'retryable', reason: 'Unexpected', message };
}

/** A call that may have taken effect: the next step looks before anything else is done. */
function ofEtcd({ outcome, message, reason }: EtcdError): Failure {
  if (outcome === 'refused') return { class: 'precondition', reason: reason ?? 'EtcdRefused', message };
  return { class: 'retryable', reason: outcome === 'ambiguous' ? 'EtcdDidNotAnswer' : 'EtcdUnreachable', message };
}

/** What a person can do about a refusal. RBAC, a quota and admission all refuse with 403, and differ in words alone. */
function cureOf({ status }: KubeError): string {
  if (status === 403)
    return 'grant the service account of etcd-ratchet the right, raise the quota, or correct the admission policy, whichever refused it';
  return status === 401
    ? 'let the API server know the service account of etcd-ratchet'
    : 'change the part of the spec that the API server does not accept';
}
