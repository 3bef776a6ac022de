import type { Secret } from '../../../../manifests/kube-types.ts';
import type { LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import { judgeSecret } from '../../../x509/judge.ts';
import type { IssuedView } from '../../know/observation.ts';

/** The Secret that a person provides for one leaf. Read whatever its owner, and never written to. */
export function providedView(plan: LeafPlan, name: string, secret: Secret | undefined, at: Date): IssuedView {
  return {
    name,
    secret: secret ? 'ours' : 'missing',
    owned: true,
    ...judgeSecret({ data: secret && (secret.data ?? {}), plan: { ...plan, secretName: name }, now: at }),
  };
}
