/**
 * The part of the Kubernetes API that reconciling needs, as one narrow interface: easy to count, to fence and to fake.
 * Only `../clients/kube.ts`, which implements it, knows the library that speaks to the API server.
 */

import type { KubeObject } from '../../manifests/kube-types.ts';

export type { KubeObject } from '../../manifests/kube-types.ts';

/** Where objects of one kind live in the API. */
export interface Resource {
  /** `v1`, `apps/v1`, … */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Of no namespace: the API server refuses to select it by one. */
  readonly clusterScoped?: true;
}

const ours = 'etcd.ratchet.dev/v1alpha1';

export const resources = {
  fleets: { apiVersion: ours, kind: 'EtcdFleet', plural: 'etcdfleets' },
  clusters: { apiVersion: ours, kind: 'EtcdCluster', plural: 'etcdclusters' },
  peers: { apiVersion: ours, kind: 'EtcdPeer', plural: 'etcdpeers' },
  schedules: { apiVersion: ours, kind: 'EtcdBackupSchedule', plural: 'etcdbackupschedules' },
  backups: { apiVersion: ours, kind: 'EtcdBackup', plural: 'etcdbackups' },
  restores: { apiVersion: ours, kind: 'EtcdRestore', plural: 'etcdrestores' },
  nodePolicies: { apiVersion: ours, kind: 'EtcdNodePolicy', plural: 'etcdnodepolicies', clusterScoped: true },
  customResourceDefinitions: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    clusterScoped: true,
  },
  volumeClaims: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
  configMaps: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
  secrets: { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
  serviceAccounts: { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' },
  services: { apiVersion: 'v1', kind: 'Service', plural: 'services' },
  pods: { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  events: { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' },
  daemonSets: { apiVersion: 'apps/v1', kind: 'DaemonSet', plural: 'daemonsets' },
  statefulSets: { apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets' },
  disruptionBudgets: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' },
  networkPolicies: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', plural: 'networkpolicies' },
  jobs: { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' },
  namespaces: { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', clusterScoped: true },
  nodes: { apiVersion: 'v1', kind: 'Node', plural: 'nodes', clusterScoped: true },
  persistentVolumes: {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    clusterScoped: true,
  },
  priorityClasses: {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    clusterScoped: true,
  },
  cronJobs: { apiVersion: 'batch/v1', kind: 'CronJob', plural: 'cronjobs' },
  tokenReviews: {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    plural: 'tokenreviews',
    clusterScoped: true,
  },
  selfReviews: {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
    plural: 'selfsubjectreviews',
    clusterScoped: true,
  },
  accessReviews: {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    clusterScoped: true,
  },
} as const satisfies Record<string, Resource>;

/** What one call may cost. Every call is bounded: by `signal`, and by the client's own per-request limit. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

interface GetOptions extends CallOptions {
  /** The API server leaves out everything else, as what a Secret holds. */
  readonly metadataOnly?: boolean;
}

export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Also of namespaces that are left out: of what something else bounds, like the pods of one node. */
  readonly whole?: boolean;
  /** The first so many, and no other page: there may be more. */
  readonly limit?: number;
  /** Of these neither the status nor `managedFields` is kept: most of an object, as a rule. */
  readonly isBare?: ((item: KubeObject) => boolean) | undefined;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

interface DeleteOptions extends CallOptions {
  /** The UID is required: a delete must never hit a namesake that was created meanwhile. */
  readonly preconditions: Preconditions & { readonly uid: string };
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** `Forced`: what would come of it if every field were ours. Nothing is ever forced that is not a dry run. */
  readonly dryRun?: boolean | 'Forced';
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/** A namespace whose objects take more than the room that there is beside those of others. */
export interface LeftOut {
  /** Of memory, about, when it was left out. */
  readonly bytes: number;
  /** What most of it is. */
  readonly plural: string;
  /** What all lists together may take. */
  readonly mostBytes: number;
}

export interface Kube {
  /**
   * Every item, all pages, unless a limit is given; of all namespaces: but for those that are left out.
   * @throws {KubeError}
   */
  list<T extends KubeObject>(
    resource: Resource,
    options: ListOptions,
  ): Promise<{ readonly items: readonly T[]; readonly resourceVersion: string }>;
  /** `undefined` when there is none; for a kind that is not installed, reason `NotFound`. @throws {KubeError} */
  get<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    options?: GetOptions,
  ): Promise<T | undefined>;
  /** POST: fails with reason `AlreadyExists` rather than change what is there. @throws {KubeError} */
  create<T extends KubeObject>(resource: Resource, object: T, options?: CallOptions): Promise<T>;
  /** PUT: `object.metadata.resourceVersion` is required, so a late writer fails with `Conflict`. @throws {KubeError} */
  update<T extends KubeObject>(resource: Resource, object: T, options?: CallOptions): Promise<T>;
  /** PUT on the status subresource, with the same fence. @throws {KubeError} */
  updateStatus<T extends KubeObject>(resource: Resource, object: T, options?: CallOptions): Promise<T>;
  /** Server-side apply without force. A `resourceVersion` in the object is a precondition. @throws {KubeError} */
  apply<T extends KubeObject>(resource: Resource, object: T, options: ApplyOptions): Promise<T>;
  /**
   * The API server's verdict on this object with every field taken seriously (`fieldValidation=Strict`), unless it may
   * drop unknown ones: a POST, or with a resourceVersion a PUT. Nothing is written; it answers what would be there, as
   * admission makes it. @throws {KubeError} as the write would
   */
  dryRun<T extends KubeObject>(
    resource: Resource,
    object: T,
    options?: CallOptions & { readonly dropsUnknown?: boolean },
  ): Promise<T>;
  /** Resolves also when the object is already gone; a UID that differs is reason `Conflict`. @throws {KubeError} */
  delete(resource: Resource, namespace: string | undefined, name: string, options: DeleteOptions): Promise<void>;
  /**
   * The Eviction API: 429 (reason `TooManyRequests`) when a disruption budget says no; fine if the pod is gone. Give
   * the resourceVersion too: for a wrong UID alone the API server repeats itself for ten seconds before `Conflict`.
   * @throws {KubeError}
   */
  evict(
    namespace: string,
    pod: string,
    options: CallOptions & { readonly preconditions: Preconditions },
  ): Promise<void>;
  /** From `resourceVersion` on; ends when `signal` aborts or the server ends it. @throws {KubeError} 410: list again */
  watch<T extends KubeObject>(
    resource: Resource,
    options: ListOptions & { readonly resourceVersion: string; readonly signal: AbortSignal },
  ): AsyncIterable<WatchEvent<T>>;
  /** The same API server as `system:serviceaccount:<namespace>:<name>`, as Flux impersonates. */
  as(serviceAccount: { readonly namespace: string; readonly name: string }): Kube;
  /** The same API server, with an account of its own of what lists hold in memory: for one pass, or one look. */
  bounded(): Kube;
  /**
   * By namespace, since {@link bounded}: its objects are unknown, not absent. What was listed before it was left out is
   * still there, and is not acted on.
   */
  leftOut(): ReadonlyMap<string, LeftOut>;
  /** The API server's clock: its last answer's `Date` header, and the time since. `undefined` before the first. */
  now(): Date | undefined;
  /** How many requests were made, by `VERB plural` (`PUT etcdclusters/status`), also through `as()`. */
  requests(): Readonly<Record<string, number>>;
  close(): void;
}

/**
 * A refusal of the API server, or its silence. `class`: `retryable` (may pass by itself: no answer, 429, 5xx),
 * `precondition` (others were faster: 409, 410), `terminal` (a person must change something: 400, 401, 403, 404, 422).
 */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly class: 'retryable' | 'precondition' | 'terminal';
  /** HTTP status; `undefined` when there was no answer. */
  readonly status: number | undefined;
  /** The API server's reason (`Conflict`, …), or `Unreachable`, `Timeout`, `BadAnswer`, `NoCredentials`. */
  readonly reason: string;
  /** The API server's machine words for why, where it has more than a reason, like `DisruptionBudget`. */
  readonly causes: readonly string[];

  constructor(
    message: string,
    facts: {
      class: KubeError['class'];
      status?: number | undefined;
      reason: string;
      causes?: readonly string[];
      cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.class = facts.class;
    this.status = facts.status;
    this.reason = facts.reason;
    this.causes = facts.causes ?? [];
  }
}

/** Its CRD, or the right to it, is missing. */
export function isNotInstalled({ status }: KubeError): boolean {
  return status === 404 || status === 403;
}

/** No other try is worth while. A 403 is none of these: a quota that is full is one as well, and has room by and by. */
export function isFinal({ class: kind, status }: KubeError): boolean {
  return kind === 'terminal' && status !== 403;
}

export function isReason(error: unknown, reason: string): error is KubeError {
  return error instanceof KubeError && error.reason === reason;
}
