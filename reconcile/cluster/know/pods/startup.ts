import type { Container } from '../../../../manifests/kube-types.ts';
import type { ContainerView, PodView } from '../observation.ts';

/** Kubernetes' own defaults of a probe. */
const defaults = { failureThreshold: 3, periodSeconds: 10, initialDelaySeconds: 0 };

/** From its pod, which `podTemplate` may have changed, and a later change of the spec has not. */
export function startupOf(container: Container | undefined): Pick<ContainerView, 'startupMs'> {
  if (!container?.startupProbe) return {};
  const { failureThreshold, periodSeconds, initialDelaySeconds } = { ...defaults, ...container.startupProbe };
  return { startupMs: (initialDelaySeconds + failureThreshold * periodSeconds) * 1000 };
}

/**
 * Until when its container may still be starting; `undefined` while none runs. A passed startup probe changes nothing
 * about it: `/livez` answers before etcd accepts clients, for which a follower may first need the whole database.
 */
export function startsUntil({ container }: Pick<PodView, 'container'>): Date | undefined {
  const { state, startedAt, startupMs = 0 } = container;
  return state === 'running' && startedAt ? new Date(startedAt.getTime() + startupMs) : undefined;
}

/** For a message: the same for as long as a pod lives. */
export function startupInWords({ startupMs }: ContainerView): string {
  if (startupMs === undefined) return '';
  const seconds = Math.round(startupMs / 1000);
  return ` (its startup probe gives it ${seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`})`;
}
