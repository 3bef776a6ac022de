import type { Kube } from '../../../reconcile/interfaces/kube.ts';
import type { HostOf, Requests, Subject } from '../../../reconcile/requests/define.ts';
import type { Program } from '../../../reconcile/requests/program.ts';
import type { Contract } from './contract.ts';
import type { SomeScene } from './scene.ts';
import type { Stage } from './stage.ts';

/** A table of requests as its contracts are tried: where they begin, and what of it is compared. */
export interface Part<A extends Subject, At extends SomeScene, S> {
  readonly requests: Requests<A>;
  makeScene(stage: Stage, spec: Pick<Contract, 'tls' | 'auth'>): Promise<At>;
  /** Of contracts that say nothing of it. */
  start(scene: At): Promise<unknown>;
  look(scene: At): Promise<Looked<S>>;
  /** Where models keep it. @param stale what others wrote to, like `pod/orders-0` */
  host(stale: ReadonlySet<string>): HostOf<A, S>;
  /** All that a request can write. What comes of it later, times and versions are not among it. */
  told(left: S, known: ReadonlySet<string>): unknown;
  /** Whether members of etcd answer. */
  hasEtcd(seen: S): boolean;
}

interface Looked<S> {
  readonly state: S;
  /** Runs a program as a step that saw just this would. */
  runLive(program: Program<unknown>, kube: Kube, signal: AbortSignal): Promise<unknown>;
}
