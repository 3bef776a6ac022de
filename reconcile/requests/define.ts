import type { Program, Request } from './program.ts';

/** What a table of requests is about: a row of types for all that its definitions have in common. */
export interface Subject {
  /** What live halves may use. */
  readonly live: unknown;
  /** What a write tells of itself. */
  readonly written: { readonly fence: string };
  /** Where models find and leave their state, which is a `this['state']`. */
  readonly host: unknown;
  readonly state: unknown;
}

/** Where a state of type `S` is kept. */
export type HostOf<A extends Subject, S> = (A & { readonly state: S })['host'];

/**
 * One kind of request: a question or a write in the domain's own terms, with its two implementations side by side.
 * Nothing else translates between actions and what Kubernetes and etcd are asked.
 */
export interface RequestDefinition<A extends Subject, K extends string, Ask, Answer> {
  /** Sends it, within a program. */
  (ask: Ask): Program<Answer>;
  readonly kind: K;
  readonly behaviour: Behaviour<A, Ask, Answer>;
}

export interface Behaviour<A extends Subject, Ask, Answer> {
  /** For the stories of a search: what the invocation that sends it does. */
  readonly words: (ask: Ask) => string;
  /** Absent: it only reads. */
  readonly writes?: (ask: Ask) => A['written'];
  /** @throws {StepError | KubeError | EtcdError} */
  readonly live: (ask: Ask, live: A['live']) => Promise<Answer>;
  /**
   * What the API server or etcd would do, on plain state.
   * @returns `wait`: something must happen first; the live half polls for it
   * @throws {StepError} as they would refuse
   */
  readonly model: <S>(state: S, ask: Ask, host: HostOf<A, S>) => Modelled<S, Answer> | 'wait';
}

interface Modelled<S, Answer> {
  readonly state: S;
  readonly answer: Answer;
}

/** A table of requests, each under its own kind. */
export type Requests<A extends Subject> = Readonly<Record<string, RequestDefinition<A, string, never, unknown>>>;

export function define<A extends Subject, K extends string, Ask, Answer>(
  kind: K,
  behaviour: Behaviour<A, Ask, Answer>,
): RequestDefinition<A, K, Ask, Answer> {
  function* send(ask: Ask): Program<Answer> {
    // The one place where an answer gets its type.
    return (yield { kind, ask }) as Answer;
  }
  return Object.assign(send, { kind, behaviour });
}

/** Each stands under its own kind, or it does not compile. */
export function named<T extends { readonly [K in keyof T]: { readonly kind: K } }>(table: T): T {
  return table;
}

/** @throws {Error} for an unknown kind. */
export function behaviourIn<A extends Subject>(requests: Requests<A>, kind: string): Behaviour<A, unknown, unknown> {
  const found = Object.hasOwn(requests, kind) ? requests[kind] : undefined;
  if (!found) throw new Error(`there is no request ${kind}`);
  return found.behaviour as Behaviour<A, unknown, unknown>;
}

/** What it says of its write; `undefined`: it only reads. */
export function writtenBy<A extends Subject>({ kind, ask }: Request, requests: Requests<A>): A['written'] | undefined {
  return behaviourIn(requests, kind).writes?.(ask);
}

export function wordsOf<A extends Subject>({ kind, ask }: Request, requests: Requests<A>): string {
  return behaviourIn(requests, kind).words(ask);
}
