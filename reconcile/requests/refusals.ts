import type { Refusal } from '../interfaces/etcd.ts';
import type { RefusalReason } from '../reasons/refusals.ts';

/** Why an action failed, classified once. */
export interface Failure {
  /** `retryable` may pass by itself, `precondition` needs a new look, `terminal` needs a person. */
  readonly class: 'retryable' | 'precondition' | 'terminal';
  readonly reason: RefusalReason;
  readonly message: string;
}

/** The world was not as the action requires just before it acts; nothing was done. */
export class StepError extends Error {
  override readonly name = 'StepError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** How the API server and etcd refuse: model halves throw these, with the live class and reason (`failureOf`). */

/** A write, or a deletion, of an object that is another one by now, or was written to since it was read. */
export function conflict(message: string): StepError {
  return new StepError({ class: 'precondition', reason: 'Conflict', message });
}

/** A POST of a name that is taken. */
export function alreadyExists(message: string): StepError {
  return new StepError({ class: 'precondition', reason: 'AlreadyExists', message });
}

/** An eviction that a disruption budget does not allow: it may, later. */
export function notAllowedYet(message: string): StepError {
  return new StepError({ class: 'retryable', reason: 'TooManyRequests', message });
}

/** It is certain that etcd has not made the change. */
export function refusedByEtcd(reason: Refusal, message: string): StepError {
  return new StepError({ class: 'precondition', reason, message });
}

/** It is not known what became of it. */
export function didNotAnswer(): StepError {
  return new StepError({ class: 'retryable', reason: 'EtcdDidNotAnswer', message: 'no quorum answers' });
}

/** It was not sent. */
export function unreachable(): StepError {
  return new StepError({ class: 'retryable', reason: 'EtcdUnreachable', message: 'no quorum answers' });
}
