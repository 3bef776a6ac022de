import type { Api } from './api.ts';
import type { EventRecorder } from './events.ts';
import type { ImageSource } from './images.ts';
import type { Informer } from './informer.ts';
import type { AddressPool } from './network.ts';
import type { ObjectCache } from './object-cache.ts';
import type { Log, Timing } from './options.ts';
import type { Claim, PersistentVolume, Service } from './wire.ts';

/** What the pods of one node share. */
export type NodeContext = {
  readonly name: string;
  /** Of the node itself; the primary family's first. */
  readonly addresses: readonly [string, ...string[]];
  /** Whom its pods ask for names. */
  readonly nameserver: string;
  readonly dir: string;
  readonly api: Api;
  readonly objects: ObjectCache;
  readonly log: Log;
  readonly timing: Timing;
  readonly pool: AddressPool;
  readonly events: EventRecorder;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly images: ImageSource;
  /** Image references that this node has; they need no pull. */
  readonly pulled: Set<string>;
  /** Image references that are being pulled → when that is over, by `Date.now()`. */
  readonly pulling: Map<string, number>;
  /** Paths of the host that pods may mount → what is there. All others are this machine's. */
  readonly hostPaths: Readonly<Record<string, string>>;
  readonly pulls: { paused: boolean };
  /** PVCs that can't be mounted, as `<namespace>/<name>`. */
  readonly unmountable: Set<string>;
  readonly services: Informer<Service>;
  readonly claims: Informer<Claim>;
  readonly persistentVolumes: Informer<PersistentVolume>;
  /** A pod began (1) or ceased (-1) to have this PVC mounted here. */
  onClaimMounted(key: string, by: 1 | -1): void;
};
