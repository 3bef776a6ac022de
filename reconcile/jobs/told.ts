import { isPlainObject } from '../../manifests/api/plain-data.ts';
import { type FailureReason, failures } from './failure.ts';

/** What the agent says of its failure. */
export interface ToldFailure {
  readonly reason: FailureReason;
  readonly message: string;
}

/** So much of a message is shown, in characters. */
const longest = 1_000;

/** From a termination message, which any program in the container may write. `undefined`: no failure of the agent. */
export function toldFailure(text: string): ToldFailure | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPlainObject(value) || value.ok !== false) return undefined;
  const { reason, message } = value;
  if (typeof reason !== 'string' || typeof message !== 'string' || !isReason(reason)) return undefined;
  return {
    reason,
    message: message
      .replaceAll(/\p{C}+/gu, ' ')
      .trim()
      .slice(0, longest),
  };
}

function isReason(word: string): word is FailureReason {
  return Object.hasOwn(failures, word);
}
