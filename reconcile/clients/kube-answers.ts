/** The meaning of the API server's answers; a proxy's error page must not pass for one. */

import { isDeepStrictEqual } from 'node:util';
import { isRecord, jsonIn } from '../../manifests/json.ts';
import type { KubeObject, ListOptions, Resource } from '../interfaces/kube.ts';
import type { Target } from './kube-address.ts';
import type { Answer } from './kube-connection.ts';
import { classOf, failure, refusal, type StatusBody, saysObjectIsGone } from './kube-errors.ts';

type Fields = Record<string, unknown>;

export type Reply = {
  /** The API server's clock. */
  readonly date: Date | undefined;
  /** Of its body. */
  readonly bytes: number;
} & (
  | { readonly kind: 'object'; readonly object: Fields }
  | { readonly kind: 'status'; readonly status: StatusBody; readonly retryAfterSeconds: number | undefined }
);

/** @throws {KubeError} `BadAnswer` unless it is JSON, or one of the few answers that API servers give as plain text. */
export function replyOf(target: Target, { status, headers, body }: Answer): Reply {
  const object = jsonObject(body);
  const date = object === undefined ? undefined : dateOf(headers.date);
  if (status >= 200 && status < 300) {
    if (object === undefined) throw unusable(target, status, headers['content-type'], body.length);
    return { kind: 'object', object, date, bytes: body.length };
  }
  const retryAfterSeconds = secondsOf(headers['retry-after']);
  if (object?.kind === 'Status')
    return { kind: 'status', status: statusOf(status, object), retryAfterSeconds, date, bytes: body.length };
  // The API server's rate limiter and its start-up answer in plain text, and so does a path it knows nothing of.
  if (status === 429 || status === 503 || (status === 404 && headers['content-type']?.startsWith('text/plain'))) {
    return { kind: 'status', status: { code: status }, retryAfterSeconds, date, bytes: body.length };
  }
  throw unusable(target, status, headers['content-type'], body.length);
}

/** @throws {KubeError} the API server's "no", or `BadAnswer` when it is not the object that was asked for. */
export function objectOf<T extends KubeObject>(target: Target, reply: Reply, name: string): T {
  if (reply.kind === 'status') throw refusal(target, reply.status);
  const { metadata, kind } = reply.object as { metadata?: { name?: unknown }; kind?: unknown };
  // Reviews are asked for and answered, and never have a name.
  if (kind !== target.resource.kind || (metadata?.name ?? '') !== name) {
    throw failure(target, 'BadAnswer', `the answer is not the ${target.resource.kind} that was asked for`, {
      sent: true,
    });
  }
  return reply.object as unknown as T;
}

/**
 * The answer to an update, with the very annotations of the object that was sent where they are the same: a pass keeps
 * both objects, and a tenant's annotations may be large.
 */
export function sharingAnnotations<T extends KubeObject>(sent: T, answer: T): T {
  const { annotations } = sent.metadata;
  if (!annotations || !isDeepStrictEqual(annotations, answer.metadata.annotations)) return answer;
  return { ...answer, metadata: { ...answer.metadata, annotations } };
}

/** The same where only the metadata were asked for. @throws {KubeError} */
export function metadataOf<T extends KubeObject>(target: Target, reply: Reply, name: string): T {
  const { apiVersion, kind } = target.resource;
  const resource = { ...target.resource, kind: 'PartialObjectMetadata' };
  return { ...objectOf<T>({ ...target, resource }, reply, name), apiVersion, kind };
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly next: string;
  readonly bytes: number;
}

/** @throws {KubeError} the API server's "no", or `BadAnswer` when it is not a list. */
export function pageOf<T extends KubeObject>(target: Target, reply: Reply): Page<T> {
  if (reply.kind === 'status') throw refusal(target, reply.status);
  const { metadata, items, kind } = reply.object as { metadata?: Fields; items?: unknown; kind?: unknown };
  const resourceVersion = metadata?.resourceVersion;
  if (kind !== `${target.resource.kind}List` || typeof resourceVersion !== 'string' || !Array.isArray(items ?? [])) {
    throw failure(target, 'BadAnswer', `the answer is not a list of ${target.resource.plural}`);
  }
  const next = typeof metadata?.continue === 'string' ? metadata.continue : '';
  // Built-in kinds leave these two out of list items; here every object says what it is.
  const { apiVersion, kind: itemKind } = target.resource;
  const typedItems = ((items ?? []) as T[]).map((item) => ({ apiVersion, kind: itemKind, ...item }));
  return { items: typedItems, resourceVersion, next, bytes: reply.bytes };
}

/** @throws {KubeError} unless the API server did it, or says that this very object is already gone. */
export function expectGone(target: Target, reply: Reply, name: string): void {
  if (reply.kind === 'status' && !saysObjectIsGone(reply.status, name)) throw refusal(target, reply.status);
}

/** The "no" to a watch. @throws {KubeError} always */
export function rejectWatch(target: Target, answer: Answer): never {
  const reply = replyOf(target, answer);
  if (reply.kind === 'status') throw refusal(target, reply.status);
  throw failure(target, 'BadAnswer', `HTTP ${answer.status} instead of a watch`, { status: answer.status });
}

/** The API server wants to be told the kind of custom resources even at their own URL. */
export function typed(resource: Resource, object: KubeObject): KubeObject {
  return { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
}

export function selectors({
  labelSelector,
  fieldSelector,
}: Pick<ListOptions, 'labelSelector'> & { readonly fieldSelector?: string | undefined }): Record<string, string> {
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

function statusOf(httpStatus: number, { code, reason, message, details }: Fields): StatusBody {
  const { name, causes } = (details ?? {}) as { name?: unknown; causes?: unknown };
  return {
    code: typeof code === 'number' && code >= 400 ? code : httpStatus,
    reason: typeof reason === 'string' ? reason : undefined,
    message: typeof message === 'string' ? message : undefined,
    name: typeof name === 'string' ? name : undefined,
    causes: Array.isArray(causes) ? causes.map((cause) => String((cause as Fields | null)?.reason)) : [],
  };
}

function unusable(target: Target, status: number, contentType: string | undefined, bytes: number): Error {
  // The body is not quoted: an error page may repeat the request, and with it the token.
  const message = `HTTP ${status} with ${bytes} bytes of ${contentType ?? 'no content type'} that are not a Kubernetes object; is a proxy in between?`;
  return failure(target, 'BadAnswer', message, {
    status,
    permanent: status >= 300 && classOf(status) === 'terminal',
    sent: true,
  });
}

function jsonObject(body: Buffer): Fields | undefined {
  const value = jsonIn(body.toString('utf8'));
  return isRecord(value) ? value : undefined;
}

function dateOf(header: string | undefined): Date | undefined {
  const time = Date.parse(header ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

function secondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}
