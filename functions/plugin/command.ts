import type { PlanContext } from '../../reconcile/cluster/foresee/plan-clusters.ts';
import type { Kube } from '../../reconcile/interfaces/kube.ts';
import type { Terminal } from './terminal.ts';

export const formats = ['text', 'json', 'yaml'] as const;
type Format = (typeof formats)[number];

export interface Common {
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: Format;
}

/** How members are asked from this machine. */
export type Reach = Pick<PlanContext, 'etcd' | 'wire'>;

interface KubectlBounds {
  readonly signal: AbortSignal;
  readonly milliseconds: number;
  readonly mostBytes: number;
}

/** The person's own kubectl, with the same kubeconfig and context: for what takes more than requests. */
export interface Kubectl {
  /** What it prints. @throws {Refusal} with its last words, when it fails or there is none. */
  text(args: readonly string[], bounds: KubectlBounds): Promise<string>;
  /**
   * A port of this machine, on loopback only, that leads to one of a pod until it is disposed of: straight, where the
   * pod's address leads somewhere from here, else by `kubectl port-forward`. @throws {Refusal}
   */
  forward(pod: PodPort, signal: AbortSignal): Promise<Forwarded>;
}

export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly address?: string | undefined;
  readonly port: number;
}

export interface Forwarded extends Disposable {
  readonly port: number;
}

/** The API server that a person's kubeconfig leads to. */
export interface Opened {
  readonly kube: Kube;
  /** Of the kubeconfig's context, where it names one. */
  readonly namespace: string | undefined;
  readonly reach: Reach;
  readonly kubectl: Kubectl;
}

export interface Asked extends Terminal {
  readonly kube: Kube;
  readonly reach: Reach;
  readonly kubectl: Kubectl;
  /** That of `-n`, else that of the kubeconfig's context, else `default`. */
  readonly namespace: string;
  readonly output: Format;
}

/**
 * Exit codes of `kubectl ratchet`. 1: it could not be carried out; 2: it was not understood; 3: a cluster needs a
 * person (`--exit-code`, `check`); 4: steps are to be taken (`plan --exit-code`, `check`).
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4;

/** What a person asked for and can't have, in words for that person. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
