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
  /** Further names that the cluster's DNS answers → IPv4 address (a Git server beside the cluster). */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly timing?: Partial<Timing>;
};

export type Timing = {
  /** Between two restarts of a container. kubelet: 10 s doubling to 5 min. Here 1 s doubling to 10 s: tests must not wait. */
  readonly crash: BackOffLimits;
  /** Between two attempts to pull an image. kubelet: as above. */
  readonly pull: BackOffLimits;
  /** Between two renewals of a node's Lease. kubelet: 10 s. */
  readonly leaseMs: number;
  /** How long a Lease is good for. kubelet: 40 s. */
  readonly leaseSeconds: number;
};

export const defaultTiming: Timing = {
  crash: { baseMs: 1000, capMs: 10_000 },
  pull: { baseMs: 1000, capMs: 10_000 },
  leaseMs: 10_000,
  leaseSeconds: 40,
};
