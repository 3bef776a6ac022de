import { KubeError } from '../interfaces/kube.ts';
import { describe, isWrite, type Target } from './kube-address.ts';

/** The fields of the API server's `Status` that are used; any of them may be missing. */
export interface StatusBody {
  readonly code: number;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** The object that the status is about, as far as it is about one. */
  readonly name?: string | undefined;
  /** In one word each (`details.causes`). */
  readonly causes?: readonly string[];
}

const longestMessage = 1000;

/** The API server's own "no". */
export function refusal(target: Target, status: StatusBody): KubeError {
  const reason = status.reason ?? '';
  const words = [String(status.code), reason, trimmed(status.message ?? '')].filter((word) => word !== '').join(' ');
  return new KubeError(`${describe(target)}: ${words}${hintFor(target, status)}`, {
    class: classOf(status.code),
    status: status.code,
    reason: reason === '' ? reasonOf(status.code) : reason,
    causes: status.causes ?? [],
  });
}

/** No answer, or none that can be used. */
export function failure(
  target: Target,
  reason: 'Unreachable' | 'Timeout' | 'BadAnswer' | 'TooLarge' | 'NoCredentials',
  message: string,
  facts: { status?: number | undefined; cause?: unknown; permanent?: boolean; sent?: boolean } = {},
): KubeError {
  const doubt = isWrite(target) && facts.sent === true ? '; it may have taken effect all the same' : '';
  return new KubeError(`${describe(target)}: ${trimmed(message)}${doubt}`, {
    class: facts.permanent === true ? 'terminal' : 'retryable',
    status: facts.status,
    reason,
    cause: facts.cause,
  });
}

export function classOf(status: number): KubeError['class'] {
  if (status === 409 || status === 410) return 'precondition';
  return status === 408 || status === 429 || status >= 500 ? 'retryable' : 'terminal';
}

/** Whether a 404 says "this object is not there", and not "this API, namespace or server is not there". */
export function saysObjectIsGone(status: StatusBody, name: string): boolean {
  return status.code === 404 && status.reason === 'NotFound' && status.name === name;
}

function reasonOf(status: number): string {
  switch (status) {
    case 401:
      return 'Unauthorized';
    case 403:
      return 'Forbidden';
    case 404:
      return 'NotFound';
    case 409:
      return 'Conflict';
    case 410:
      return 'Expired';
    case 429:
      return 'TooManyRequests';
    case 503:
      return 'ServiceUnavailable';
    default:
      return 'BadAnswer';
  }
}

function hintFor({ resource, name }: Target, status: StatusBody): string {
  if (status.code === 401) return '; is the token still valid, and is it for this cluster?';
  if (status.code !== 404 || (name !== undefined && status.name === name)) return '';
  if (status.name !== undefined && status.name !== '') return '';
  return `; does this API server serve ${resource.apiVersion} ${resource.plural}? Are the CRDs installed?`;
}

function trimmed(message: string): string {
  // A message may repeat what was sent; nothing that looks like a token gets further than here.
  const line = message
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/Bearer \S+|\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]')
    .trim();
  return line.length <= longestMessage ? line : `${line.slice(0, longestMessage)}…`;
}
