import type { EtcdNodePolicySpec } from '../../manifests/api/etcd-node-policy.ts';
import { nodePolicyDefaults } from '../../manifests/api/spec-defaults.ts';
import type { KubeObject } from '../../manifests/kube-types.ts';
import { type Kube, KubeError, resources } from '../interfaces/kube.ts';
import type { AlertsSeen, NodesObservation } from './observation.ts';
import { alertsIn, kuredHolders, kuredLockAnnotation } from './outside.ts';

/** Asks a Prometheus; tests have another one. */
export type AskAlerts = (url: string, signal: AbortSignal) => Promise<string>;

interface OutsideContext {
  readonly kube: Kube;
  readonly askAlerts?: AskAlerts;
  readonly signal: AbortSignal;
}

/** What keeps nodes from beginning that is neither a node nor a cluster: asked for only where one may begin. */
export async function observeOutside(
  { blockedByAlerts, kured }: EtcdNodePolicySpec,
  context: OutsideContext,
): Promise<Pick<NodesObservation, 'alerts' | 'kuredLock'>> {
  const [alerts, kuredLock] = await Promise.all([
    blockedByAlerts && alertsOf(blockedByAlerts, context),
    kured && lockOf(kured, context),
  ]);
  return { ...(alerts && { alerts }), ...(kuredLock && { kuredLock }) };
}

async function alertsOf(
  { url, ...chosen }: NonNullable<EtcdNodePolicySpec['blockedByAlerts']>,
  { askAlerts, signal }: OutsideContext,
): Promise<AlertsSeen> {
  try {
    const ask = askAlerts ?? (await import('../clients/prometheus.ts')).readAlerts;
    return alertsIn(await ask(url, signal), chosen);
  } catch (error) {
    // Of a request that came to nothing, the cause says why: a name that is not known, a port that is shut.
    const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return { kind: 'unreadable', why: why.slice(0, 300) };
  }
}

async function lockOf(
  {
    namespace = nodePolicyDefaults.kured.namespace,
    daemonSet = nodePolicyDefaults.kured.daemonSet,
  }: NonNullable<EtcdNodePolicySpec['kured']>,
  { kube, signal }: OutsideContext,
): Promise<readonly string[]> {
  try {
    const found = await kube.get<KubeObject>(resources.daemonSets, namespace, daemonSet, { signal });
    return kuredHolders(found?.metadata.annotations?.[kuredLockAnnotation], kube.now() ?? new Date());
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return [`a node that is not known, since DaemonSet ${namespace}/${daemonSet} can't be read (${error.message})`];
  }
}
