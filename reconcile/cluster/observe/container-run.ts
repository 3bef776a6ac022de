import type { Container, ContainerStatus, Pod } from '../../../manifests/kube-types.ts';
import { etcdContainer } from '../../../manifests/render/names.ts';
import type { ContainerView, OtherContainer } from '../know/observation.ts';

/**
 * When its last run began, how it last ended, and with how much memory it may run: fields and codes, never sentences.
 */
export function runOf(
  { state, lastState }: ContainerStatus,
  container: Container | undefined,
): Pick<ContainerView, 'startedAt' | 'exit' | 'memoryLimit'> {
  const ended = state?.terminated ?? lastState?.terminated;
  const startedAt = state?.running?.startedAt ?? ended?.startedAt;
  const memoryLimit = container?.resources?.limits?.memory;
  return {
    // What never ran is told with the zero time by some runtimes.
    ...(startedAt !== undefined && Date.parse(startedAt) > 0 && { startedAt: new Date(startedAt) }),
    ...(ended && { exit: { code: ended.exitCode, reason: ended.reason ?? '' } }),
    ...(memoryLimit !== undefined && { memoryLimit: String(memoryLimit) }),
  };
}

/**
 * The first container beside etcd's that keeps its pod from being Ready, because it ended with an error or can't start.
 */
export function failingBeside({ spec, status }: Pod): OtherContainer | undefined {
  const inits = new Set((spec.initContainers ?? []).map(({ name }) => name));
  const beside = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const found of beside) {
    if (found.name === etcdContainer || found.ready || found.state?.running) continue;
    const { state, lastState, restartCount: restarts } = found;
    const ended = state?.terminated ?? lastState?.terminated;
    const isOver = state?.terminated?.exitCode === 0 && inits.has(found.name);
    const reason = state?.waiting?.reason ?? ended?.reason ?? '';
    if (isOver || (ended === undefined && passing.has(reason))) continue;
    return {
      name: found.name,
      reason,
      restarts,
      ...(ended && { exit: { code: ended.exitCode, reason: ended.reason ?? '' } }),
    };
  }
  return undefined;
}

const passing: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);
