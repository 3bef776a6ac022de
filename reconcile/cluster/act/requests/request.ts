import { type Behaviour, define, type RequestDefinition, type Subject } from '../../../requests/define.ts';
import type { Host } from './host.ts';
import type { Live } from './live.ts';
import type { ObjectKind } from './read-at.ts';

/** Requests about one cluster. */
export interface ClusterSubject extends Subject {
  readonly live: Live;
  readonly written: Written;
  readonly host: Host<this['state']>;
}

/** What a write is about, and what the API server compares when it arrives. */
export interface Written {
  readonly fence: Fence;
  readonly object?: ObjectKind;
  /** The member that it is about. */
  readonly name?: string;
  /** A change of the member list, and its member: an ID, or the name of a member that is added. */
  readonly membership?: { readonly kind: 'add' | 'promote' | 'remove'; readonly target: string };
}

/**
 * `version`: the object as it was read. `uid`: the same object, whatever was written to it since. `absent`: a POST.
 * `none`: etcd has no such thing. `cluster`: the resource as its step was written into it, so it is never late.
 */
type Fence = 'version' | 'uid' | 'absent' | 'none' | 'cluster';

export function defineRequest<K extends string, Ask, Answer>(
  kind: K,
  behaviour: Behaviour<ClusterSubject, Ask, Answer>,
): RequestDefinition<ClusterSubject, K, Ask, Answer> {
  return define(kind, behaviour);
}
