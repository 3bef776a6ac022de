/** What one step did about one object, of whatever kind: kinds add to it what only they have. */
export interface StepResult {
  /** Absent: its kind has no namespaces. */
  readonly namespace?: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  /**
   * `acted`: the action was carried out. `failed`: it was tried; the next step looks again. `lost`: another invocation
   * was faster. `none`: nothing was to be done, or it was a dry run.
   */
  readonly outcome: 'none' | 'acted' | 'failed' | 'lost';
  /** Whether another step would be worth taking, soon. */
  readonly workRemains: boolean;
  /** When the clock alone is worth another look, in seconds. */
  readonly afterSeconds?: number;
  /** When something is due that no follow-up waits for. */
  readonly nextAt?: Date;
}

export function keyOf({ namespace, name }: Pick<StepResult, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function hasActed({ outcome }: StepResult): boolean {
  return outcome === 'acted';
}

export function hasWork({ workRemains }: StepResult): boolean {
  return workRemains;
}
