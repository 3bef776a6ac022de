import type { EtcdClusterSpec } from '../../../manifests/api/etcd-cluster.ts';
import { readPeer } from '../../../reconcile/cluster/act/requests/objects.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import type { Reason } from '../../../reconcile/reasons/reasons.ts';
import type { Program } from '../../../reconcile/requests/program.ts';
import type { Failure } from '../../../reconcile/requests/refusals.ts';
import type { EtcdVersion } from '../../support/cluster/binaries/catalogue.ts';
import type { Scene, SomeScene } from './scene.ts';

/** From one start, both halves of a request must leave the same and answer the same, or refuse for the same reason. */
export interface Contract<At extends SomeScene = Scene, Seen = Observation> {
  /** In words, after the name of the request. */
  readonly when: string;
  /** Absent: what its part begins with; of a cluster one member that is sealed and runs, and no etcd. */
  readonly start?: (scene: At) => Promise<unknown>;
  /** Carried out where the program says `othersAct`. */
  readonly others?: readonly Parameters<At['act']>[0][];
  /** `seen`: what both halves begin with. Reads may come before the request that this is about. */
  readonly asks: (seen: Seen, scene: At) => Program<unknown>;
  /** Why both refuse; absent: neither does. */
  readonly refused?: Refused;
  /** Where the halves differ, and should. */
  readonly differs?: Difference;
  /** Where its cluster's certificates come from; absent: it has none. */
  readonly tls?: EtcdClusterSpec['tls'];
  /** What etcd's users and roles are to be; absent: they are not observed. */
  readonly auth?: EtcdClusterSpec['auth'];
  /** It changes an etcd that contracts of this minor share: one at a time. */
  readonly turn?: { readonly of: 'changing' | 'filling' | 'guarded'; readonly version: EtcdVersion };
  /** What of an observation else must come to be the same, where `told` does not tell it. */
  readonly also?: (left: Seen) => unknown;
  /** Of requests that wait for something that does not come: milliseconds until the live one is stopped. */
  readonly patience?: number;
}

/** Class and reason of a failure. */
type Refused = `${Failure['class']} ${Reason}`;

/** A contract without a case is none: that does not compile. */
export type Contracts<At extends SomeScene = Scene, Seen = Observation> = readonly [
  Contract<At, Seen>,
  ...Contract<At, Seen>[],
];

/** One contract at least for each request of a table, and for nothing else: what lacks one does not compile. */
export function contractsFor<R extends object, T extends { readonly [K in keyof R]: readonly [unknown, ...unknown[]] }>(
  _requests: R,
  table: T & { readonly [K in Exclude<keyof T, keyof R>]: never },
): T {
  return table;
}

/** As narrow as possible. */
export interface Difference {
  readonly because: string;
  /** How the model ends instead. */
  readonly model?: Refused | 'well';
  /** Paths of what is left or answered that are not compared, like `left.slots.orders-0.pod`; `*`: any. */
  readonly not?: readonly string[];
}

/** A name that no object has: a look at it tells the runner that others act now. */
export const whenOthersAct = 'when-others-act';

export function* othersAct(): Program {
  yield* readPeer({ name: whenOthersAct });
}
