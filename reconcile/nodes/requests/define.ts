import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Program } from '../../cluster/act/requests/program.ts';
import type { NodeActContext } from '../act-context.ts';
import type { NodesHost } from './host.ts';

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

/** One kind of request, with its two implementations side by side, as those of a cluster's actions have them. */
export interface NodeBehaviour<Ask, Answer> {
  /** For the stories of a search. */
  readonly words: (ask: Ask) => string;
  /** Absent: it only reads. */
  readonly writes?: (ask: Ask) => NodeWritten;
  /** @throws {KubeError | EtcdError | StepError} */
  readonly live: (ask: Ask, live: NodeLive) => Promise<Answer>;
  /** What the API server or etcd would do, on plain state. @throws {StepError} as they would refuse. */
  readonly model: <S>(state: S, ask: Ask, host: NodesHost<S>) => { readonly state: S; readonly answer: Answer };
}

export function defineNodeRequest<K extends string, Ask, Answer>(kind: K, behaviour: NodeBehaviour<Ask, Answer>) {
  function* send(ask: Ask): Program<Answer> {
    // The one place where an answer gets its type.
    return (yield { kind, ask }) as Answer;
  }
  return Object.assign(send, { kind, behaviour });
}
