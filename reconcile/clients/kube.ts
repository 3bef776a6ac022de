/**
 * `Kube` over the API server's REST interface, without client-node's generated classes: those load models of every kind
 * before the first byte is sent, drop unknown fields, and offer neither limits nor counts.
 */

import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { type Kube, type KubeObject, type ListOptions, type Resource, resources } from '../interfaces/kube.ts';
import { traced } from '../stepping/traced.ts';
import { type Access, findAccess } from './kube-access.ts';
import { countKey, isWrite, serviceAccountUser, type Target } from './kube-address.ts';
import {
  expectGone,
  metadataOf,
  objectOf,
  pageOf,
  type Reply,
  rejectWatch,
  replyOf,
  selectors,
  sharingAnnotations,
  typed,
} from './kube-answers.ts';
import { openConnection } from './kube-connection.ts';
import { saysObjectIsGone } from './kube-errors.ts';
import { listPages } from './kube-list.ts';
import { watchEvents } from './kube-watch.ts';
import { createListBudget, type ListBudget } from './list-budget.ts';

export interface KubeOptions {
  /** `etcd-ratchet/0.1.0`; what stands before the slash is the field manager of creates and updates. */
  readonly userAgent: string;
  /** For one request with its whole answer, in milliseconds. Default: 10,000. */
  readonly requestTimeoutMs?: number;
  /** Instead of KUBECONFIG, the pod's service account or `~/.kube/config`. */
  readonly kubeconfig?: string;
  /** Of memory, for what all lists hold together, in bytes. Default: three tenths of the heap that Node allows. */
  readonly listBytes?: number;
}

/** Of an object, its metadata: https://kubernetes.io/docs/reference/using-api/api-concepts/ */
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

interface Request {
  /** Default: whatever the API server sends. */
  readonly accept?: string;
  readonly mostBytes?: number;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

/** A busy API server usually asks for one second; a longer wait is reported to the caller. */
const longestRetryAfterSeconds = 2;

/** @throws {KubeError} `NoCredentials` when nothing says where the cluster is. Nothing is asked of it yet. */
export async function connectKube(options: KubeOptions): Promise<Kube> {
  return kubeThrough(await findAccess(options.kubeconfig), options);
}

export function kubeThrough(access: Access, options: KubeOptions): Kube {
  const { userAgent, requestTimeoutMs: timeoutMs = 10_000, listBytes = mostListBytes() } = options;
  const connection = openConnection(access, { timeoutMs });
  const counts = new Map<string, number>();
  /** What the last answer said, and when that was by our own clock. */
  let told: { readonly date: Date; readonly at: number } | undefined;
  return kubeAs({}, createListBudget(listBytes));

  function kubeAs(identity: OutgoingHttpHeaders, budget: ListBudget): Kube {
    return {
      list,
      get: async <T extends KubeObject>(
        resource: Resource,
        namespace: string | undefined,
        name: string,
        { signal, metadataOnly = false }: { signal?: AbortSignal; metadataOnly?: boolean } = {},
      ) => {
        const target = { verb: 'GET', resource, namespace, name } as const;
        const reply = await ask(target, { signal, ...(metadataOnly && { accept: partial }) });
        if (reply.kind === 'status' && saysObjectIsGone(reply.status, name)) return undefined;
        return metadataOnly ? metadataOf<T>(target, reply, name) : objectOf<T>(target, reply, name);
      },
      create: async (resource, object, { signal } = {}) => {
        const { namespace, name } = object.metadata;
        const target = { verb: 'POST', resource, namespace } as const;
        return objectOf(target, await ask(target, { body: typed(resource, object), signal }), name);
      },
      update: (resource, object, { signal } = {}) => put(resource, object, undefined, signal),
      updateStatus: (resource, object, { signal } = {}) => put(resource, object, 'status', signal),
      apply: async (resource, object, { fieldManager, dryRun = false, signal }) => {
        const { namespace, name } = object.metadata;
        const target = { verb: 'PATCH', resource, namespace, name } as const;
        const force = String(dryRun === 'Forced');
        const query = { fieldManager, force, ...(dryRun ? { dryRun: 'All' } : {}) };
        // Apply patches are YAML to the API server, and JSON is YAML.
        const contentType = 'application/apply-patch+yaml';
        return objectOf(target, await ask(target, { query, contentType, body: typed(resource, object), signal }), name);
      },
      dryRun: async (resource, object, { dropsUnknown = false, signal } = {}) => {
        const { namespace, name, resourceVersion } = object.metadata;
        const target = resourceVersion
          ? ({ verb: 'PUT', resource, namespace, name } as const)
          : ({ verb: 'POST', resource, namespace } as const);
        const query = { dryRun: 'All', fieldValidation: dropsUnknown ? 'Ignore' : 'Strict' };
        return objectOf(target, await ask(target, { query, body: typed(resource, object), signal }), name);
      },
      delete: async (resource, namespace, name, { preconditions, propagation, signal }) => {
        const target = { verb: 'DELETE', resource, namespace, name } as const;
        const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: propagation };
        expectGone(target, await ask(target, { body, signal }), name);
      },
      evict: async (namespace, name, { preconditions, signal }) => {
        const target = { verb: 'POST', resource: resources.pods, namespace, name, subresource: 'eviction' } as const;
        const body = {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { namespace, name },
          deleteOptions: { preconditions },
        };
        expectGone(target, await ask(target, { body, signal }), name);
      },
      watch: (resource, options) => watch(resource, options),
      // No groups: the API server adds those of a service account by itself, and to name them would take the right to
      // impersonate groups. Empty, so that a group of the kubeconfig's own impersonation is not sent along.
      as: (serviceAccount) =>
        kubeAs({ 'impersonate-user': serviceAccountUser(serviceAccount), 'impersonate-group': [] }, budget),
      bounded: () => kubeAs(identity, createListBudget(listBytes)),
      leftOut: () => budget.leftOut,
      now: () => told && runOn(told),
      requests: () => Object.fromEntries(counts),
      close: () => connection.close(),
    };

    function list<T extends KubeObject>(resource: Resource, options: ListOptions) {
      const target = { verb: 'LIST', resource, namespace: options.namespace } as const;
      return listPages<T>({
        target,
        options,
        budget,
        ask: async (query, mostBytes) =>
          pageOf<T>(target, await ask(target, { query, signal: options.signal, mostBytes })),
      });
    }

    async function put<T extends KubeObject>(
      resource: Resource,
      object: T,
      subresource: 'status' | undefined,
      signal: AbortSignal | undefined,
    ): Promise<T> {
      const { namespace, name, resourceVersion } = object.metadata;
      if (!resourceVersion) throw new TypeError(`an update of ${name} needs the resourceVersion it is based on`);
      const base = { verb: 'PUT', resource, namespace, name } as const;
      const target: Target = subresource === undefined ? base : { ...base, subresource };
      const answer = objectOf<T>(target, await ask(target, { body: typed(resource, object), signal }), name);
      return sharingAnnotations(object, answer);
    }

    async function* watch<T extends KubeObject>(
      resource: Resource,
      options: ListOptions & { readonly resourceVersion: string; readonly signal: AbortSignal },
    ) {
      const { signal, resourceVersion, namespace } = options;
      if (signal.aborted) return;
      const target = { verb: 'WATCH', resource, namespace } as const;
      const query = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion, ...selectors(options) };
      try {
        const headers = headersFor(undefined);
        const answer = await connection.stream({ target, query, headers, signal, onRequest: () => count(target) });
        if ('body' in answer) rejectWatch(target, answer);
        yield* watchEvents<T>(target, answer, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }

    async function ask(target: Target, request: Request): Promise<Reply> {
      const reply = await askOnce(target, request);
      const wait = reply.kind === 'status' ? reply.retryAfterSeconds : undefined;
      if (isWrite(target) || wait === undefined || wait > longestRetryAfterSeconds) return reply;
      try {
        await sleep(wait * 1000, undefined, request.signal === undefined ? {} : { signal: request.signal });
      } catch {
        // The caller's time is up: what the API server said is a better answer than that.
        return reply;
      }
      return askOnce(target, request);
    }

    async function askOnce(
      target: Target,
      { query = {}, body, contentType = 'application/json', accept, signal, mostBytes }: Request,
    ): Promise<Reply> {
      const question = {
        target,
        query,
        headers: { ...headersFor(body === undefined ? undefined : contentType), ...(accept && { accept }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal,
        mostBytes,
        onRequest: () => count(target),
      };
      const { verb, resource, namespace } = target;
      const facts = { verb, resource: resource.plural, namespace };
      const asking = async (note: (more: { readonly status: number }) => void) => {
        const answer = await connection.ask(question);
        note({ status: answer.status });
        return answer;
      };
      const answer = await traced(countKey(target), facts, asking, 'api-server');
      const reply = replyOf(target, answer);
      if (reply.date) told = { date: reply.date, at: performance.now() };
      return reply;
    }

    function headersFor(contentType: string | undefined): OutgoingHttpHeaders {
      const type = contentType === undefined ? {} : { 'content-type': contentType };
      return { 'user-agent': userAgent, ...identity, ...type };
    }
  }

  function count(target: Target): void {
    counts.set(countKey(target), (counts.get(countKey(target)) ?? 0) + 1);
  }
}

/** The rest is for what is made of the lists, for Git, and for what is parsed just now. */
function mostListBytes(): number {
  return Math.floor(getHeapStatistics().heap_size_limit / 4);
}

/** In whole seconds, as the header has it: so it is never ahead of the API server. */
function runOn({ date, at }: { readonly date: Date; readonly at: number }): Date {
  return new Date(date.getTime() + Math.floor((performance.now() - at) / 1000) * 1000);
}
