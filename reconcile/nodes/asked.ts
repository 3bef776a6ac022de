import type { EtcdNodePolicy } from '../../manifests/api/etcd-node-policy.ts';
import type { StepContext } from '../cluster/step-context.ts';
import type { FleetPlan } from '../fleet/plan.ts';
import type { SteppingContext } from '../stepping/kind.ts';
import type { NodePlan } from './foresee.ts';

type NodePlansContext = Omit<StepContext, 'dryRun'> & Pick<SteppingContext, 'rebootsIn'>;

/** EtcdNodePolicies as a commit asks for them. */
export function policiesIn({ applies }: Pick<FleetPlan, 'applies'>): readonly EtcdNodePolicy[] {
  return applies.flatMap((apply): readonly EtcdNodePolicy[] => {
    const { kind, name, object } = apply.spec;
    if (kind !== 'EtcdNodePolicy' || apply.kind === 'settled') return [];
    // `findSpecs` has validated it.
    const { spec } = object as unknown as EtcdNodePolicy;
    return [{ apiVersion: 'etcd.ratchet.dev/v1alpha1', kind, metadata: { name }, spec }];
  });
}

/** Nodes that these policies would reboot, in order; none without the component node-reboots. @throws {KubeError} */
export async function nodePlans(
  { rebootsIn, ...context }: NodePlansContext,
  asked: readonly EtcdNodePolicy[],
): Promise<readonly NodePlan[]> {
  if (rebootsIn === undefined) return [];
  const { planNodePolicies } = await import('./pass.ts');
  return planNodePolicies({ ...context, rebootsIn }, asked);
}
