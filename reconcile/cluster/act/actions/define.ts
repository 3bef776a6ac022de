import type { EtcdCluster } from '../../../../manifests/api/etcd-cluster.ts';
import type { Program } from '../../../requests/program.ts';
import type { ActionKind, ActionOf } from '../../know/action.ts';

/** One kind of action: all that is said of it. */
export interface ActionDefinition<K extends ActionKind> {
  readonly kind: K;
  /** What it is about, for tables and events: the members' names; absent for the cluster itself. */
  readonly target: (action: ActionOf<K>) => string | undefined;
  /**
   * Where the whole was refused, each part is tried alone, so that one that is refused for ever does not keep the
   * others from theirs. Only where a crash may leave any of them undone anyway.
   */
  readonly parts?: (action: ActionOf<K>) => readonly ActionOf<K>[];
  /** @throws {StepError} where it ends before its end. */
  readonly run: (action: ActionOf<K>, cluster: Leased) => Program;
}

/**
 * The cluster as its step was written into it: what it says stays so while the action runs, or the next step is another
 * one.
 */
export interface Leased {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly deleting: boolean;
}

export function defineAction<K extends ActionKind>(
  kind: K,
  definition: Omit<ActionDefinition<K>, 'kind'>,
): ActionDefinition<K> {
  return { kind, ...definition };
}

/** For a target in words. */
export function namesOf(things: readonly { readonly name: string }[]): string {
  return things.map(({ name }) => name).join(', ');
}

export function leasedOf({ metadata }: EtcdCluster): Leased {
  const { namespace = '', name, uid = '', annotations = {}, deletionTimestamp } = metadata;
  return { namespace, name, uid, annotations, deleting: deletionTimestamp !== undefined };
}
