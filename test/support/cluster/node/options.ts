import type { Families } from '../families.ts';
import type { ApiServer } from './api.ts';
import type { BackOffLimits } from './backoff.ts';

/** The part of pino's logger that is used. */
export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

export type Binaries = {
  /** Version (`3.6.16`) → path of the binary. */
  readonly etcd: Readonly<Record<string, string>>;
  readonly etcdutl: Readonly<Record<string, string>>;
  /** In every image of etcd, if given. */
  readonly etcdctl?: string;
};

export type ProcessNodeOptions = {
  readonly apiServer: ApiServer;
  /** Where volumes, pod directories and logs live; made if missing. Must be short: it also holds a unix socket. */
  readonly dir: string;
  /** How many Node objects, `node-1` … */
  readonly nodes: number;
  /** Of pods and nodes; IPv4 if not given. */
  readonly families?: Families;
  readonly binaries: Binaries;
  /** Root of this repository, for our own image. */
  readonly checkout: string;
  readonly log: Log;
  readonly signal?: AbortSignal;
  /** Further image references → one of the known ones, for digests and mirrors. */
  readonly images?: Readonly<Record<string, string>>;
  /** Image references → a program that is its own image: of Go, as it needs no library. */
  readonly programs?: Readonly<Record<string, string>>;
  /** Further names that the cluster's DNS answers → IPv4 address (a Git server beside the cluster). */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly timing?: Partial<Timing>;
};

export type Timing = {
  /**
   * Between two restarts of a container. kubelet: 10 s doubling to 5 min. Here 1 s doubling to 10 s: tests must not
   * wait.
   */
  readonly crash: BackOffLimits;
  /** Between two attempts to pull an image. kubelet: as above. */
  readonly pull: BackOffLimits;
  /** Between two renewals of a node's Lease. kubelet: 10 s. */
  readonly leaseMs: number;
  /** How long a Lease is good for. kubelet: 40 s. */
  readonly leaseSeconds: number;
  /**
   * The longest until a pod's files follow a ConfigMap or Secret. kubelet: 60 s (`syncFrequency`); each pod in its own
   * time.
   */
  readonly propagationMs: number;
  /** Whether an immutable ConfigMap or Secret is kept for as long as a pod of the node refers to it. kubelet: yes. */
  readonly keepsImmutable: boolean;
  /** From a change of a pod's state to its status in the API server. kubelet: 1 s, by its relisting of containers. */
  readonly statusLagMs: number;
  /** For how long a name that was not there is not there for anybody who asks again. CoreDNS: 30 s. */
  readonly missingNameMs: number;
  /** What the first pull of an image takes on a node. On a real one: seconds to minutes. */
  readonly pullMs: number;
};

export const defaultTiming: Timing = {
  crash: { baseMs: 1000, capMs: 10_000 },
  pull: { baseMs: 1000, capMs: 10_000 },
  leaseMs: 10_000,
  leaseSeconds: 40,
  propagationMs: 0,
  keepsImmutable: false,
  statusLagMs: 0,
  missingNameMs: 0,
  pullMs: 0,
};

/**
 * As unkind as real nodes. What takes a minute and more there takes a third of that, or less: each says what it is in
 * life.
 */
export const unkindTiming = {
  // 5 min at most in life.
  crash: { baseMs: 10_000, capMs: 60_000 },
  pull: { baseMs: 10_000, capMs: 60_000 },
  // 60 s in life.
  propagationMs: 20_000,
  keepsImmutable: true,
  // As in life.
  statusLagMs: 1_000,
  // 30 s in life.
  missingNameMs: 10_000,
  pullMs: 3_000,
} as const satisfies Partial<Timing>;
