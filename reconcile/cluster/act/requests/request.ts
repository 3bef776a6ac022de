import type { Host } from './host.ts';
import type { Live } from './live.ts';
import type { Program } from './program.ts';
import type { ObjectKind } from './read-at.ts';

/**
 * One kind of request: a question or a write in the domain's own terms, with its two implementations side by side.
 * Nothing else translates between what an action says and what Kubernetes and etcd are asked.
 */
export interface RequestDefinition<K extends string, Ask, Answer> {
  /** Sends it, within a program. */
  (ask: Ask): Program<Answer>;
  readonly kind: K;
  readonly behaviour: Behaviour<Ask, Answer>;
}

export interface Behaviour<Ask, Answer> {
  /** For the stories of a search: what the invocation that sends it does. */
  readonly words: (ask: Ask) => string;
  /** Absent: it only reads. */
  readonly writes?: (ask: Ask) => Written;
  /** @throws {StepError | KubeError | EtcdError} */
  readonly live: (ask: Ask, live: Live) => Promise<Answer>;
  /**
   * What the API server or etcd would do, on plain state.
   *
   * @returns `wait`: something must happen first, and the live one polls for it.
   * @throws {StepError} as they would refuse.
   */
  readonly model: <S>(state: S, ask: Ask, host: Host<S>) => Modelled<S, Answer> | 'wait';
}

interface Modelled<S, Answer> {
  readonly state: S;
  readonly answer: Answer;
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
  behaviour: Behaviour<Ask, Answer>,
): RequestDefinition<K, Ask, Answer> {
  function* send(ask: Ask): Program<Answer> {
    // The one place where an answer gets its type.
    return (yield { kind, ask }) as Answer;
  }
  return Object.assign(send, { kind, behaviour });
}
