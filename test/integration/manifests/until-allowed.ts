import { until } from '../../e2e/support/until.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';

/**
 * The API server counts a role and its binding a moment after they were written, and one that is aggregated from others
 * when its controller has come to it.
 *
 * @param who what makes kubectl act as somebody, and in which namespace
 */
export async function untilAllowed(
  kubectl: Kubectl,
  who: readonly string[],
  ...rights: readonly (readonly [verb: string, resource: string])[]
): Promise<void> {
  for (const [verb, resource] of rights)
    await until(`${who.join(' ')} may ${verb} ${resource}`, () => kubectl([...who, 'auth', 'can-i', verb, resource]));
}
