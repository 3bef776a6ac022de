import { EtcdError } from '../etcd.ts';
import { KubeError } from '../kube.ts';

/** How carrying out a decision went. */
export type Outcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'acted' }
  /** Somebody else was faster: nothing was done, and nothing is reported over theirs. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Why an action did not get through, classified once. */
export interface Failure {
  /** `retryable` may pass by itself, `precondition` wants a new look, `terminal` wants a person. */
  readonly class: 'retryable' | 'precondition' | 'terminal';
  readonly reason: string;
  readonly message: string;
}

/** An action that found the world other than it must be just before it acts; nothing was done. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The world moved since the decision: look again. */
export function moved(message: string): StepError {
  return new StepError({ class: 'precondition', reason: 'WorldMoved', message });
}

/** A person must do something before this can go on. */
export function needsPerson(reason: string, message: string): StepError {
  return new StepError({ class: 'terminal', reason, message });
}

/** Between what is wrong and its cure, in one sentence for a person. */
const toGoOn = '. To go on: ';

/** What is wrong, and its cure, of a failure that wants a person. */
export function toldIn(message: string): { readonly message: string; readonly cure: string } {
  const [what = '', ...cure] = message.split(toGoOn);
  return { message: what, cure: cure.join(toGoOn) || 'see to what is refused there' };
}

export function failureOf(error: unknown): Failure {
  if (error instanceof StepError) return error.failure;
  if (error instanceof KubeError) {
    const { class: kind, reason, message } = error;
    return { class: kind, reason, message: kind === 'terminal' ? `${message}${toGoOn}${cureOf(error)}` : message };
  }
  if (error instanceof EtcdError) return ofEtcd(error);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return { class: 'retryable', reason: 'Timeout', message: 'the step ran out of time' };
  }
  return { class: 'retryable', reason: 'Unexpected', message };
}

/** What may have had its effect is looked at again before anything else is done. */
function ofEtcd({ outcome, message, reason }: EtcdError): Failure {
  if (outcome === 'refused') return { class: 'precondition', reason: reason ?? 'EtcdRefused', message };
  return { class: 'retryable', reason: outcome === 'ambiguous' ? 'EtcdDidNotAnswer' : 'EtcdUnreachable', message };
}

/** What a person can do about a "no" that will stay one. */
function cureOf({ status }: KubeError): string {
  return status === 401 || status === 403
    ? 'grant the service account of etcd-ratchet what it was refused'
    : 'change in the spec what the API server does not accept';
}
