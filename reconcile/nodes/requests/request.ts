import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Holder } from '../../cluster/know/holder.ts';
import type { Kube } from '../../interfaces/kube.ts';
import { type Behaviour, define, type RequestDefinition, type Subject } from '../../requests/define.ts';
import { conflict } from '../../requests/refusals.ts';
import type { NodesObserved } from '../observe.ts';
import type { NodesHost } from './host.ts';

export interface NodeActContext {
  readonly kube: Kube;
  readonly observed: NodesObserved;
  /** Our own, for the Job. */
  readonly image: () => Promise<string>;
  readonly rebootsIn: string;
  /** This invocation. */
  readonly holder: Holder;
  readonly signal: AbortSignal;
  /** No write is sent after it, by `performance.now()`. */
  readonly deadline: number;
}

/** Requests about nodes that reboot. */
export interface NodeSubject extends Subject {
  readonly live: NodeLive;
  readonly written: NodeWritten;
  readonly host: NodesHost<this['state']>;
}

/** What the live halves of the requests of one action share. */
interface NodeLive extends NodeActContext {
  /** Clusters that this action holds, as they were written, by their keys. */
  readonly held: Map<string, EtcdCluster>;
}

/** What a write is about, and what the API server compares when it arrives. */
interface NodeWritten {
  readonly object: string;
  /** `version`: as it was observed, or as this action wrote it. `absent`: a POST. `none`: it compares nothing. */
  readonly fence: 'version' | 'uid' | 'absent' | 'none';
}

export function defineNodeRequest<K extends string, Ask, Answer>(
  kind: K,
  behaviour: Behaviour<NodeSubject, Ask, Answer>,
): RequestDefinition<NodeSubject, K, Ask, Answer> {
  return define(kind, behaviour);
}

export function writtenSince(object: string): Error {
  return conflict(`${object} was written to since it was observed`);
}
