import type { LeafPlan } from '../../../manifests/build/certificate-names.ts';
import type { Secret } from '../../../manifests/kube-types.ts';
import { isFatal } from '../../certificates/defect.ts';
import { agreementDefects, type Defect, judgeSecret } from '../../certificates/judge.ts';
import type { IssuedView, ReadCertificates } from '../observation.ts';

/** What a person provides for one leaf. Ours to read, whoever made it; never written to. */
export function providedView(plan: LeafPlan, name: string, secret: Secret | undefined, at: Date): IssuedView {
  return {
    name,
    secret: secret ? 'ours' : 'missing',
    owned: true,
    ...judgeSecret({ data: secret && (secret.data ?? {}), plan: { ...plan, secretName: name }, now: at }),
  };
}

/** What is fatally wrong with what a person provides: with each on its own, or with all of them together. */
export function sourceDefects({ at }: { readonly at: Date }, { leaves }: ReadCertificates): readonly Defect[] {
  const own = leaves.flatMap(({ issued }) => issued?.defects ?? []).filter(isFatal);
  if (own.length > 0) return own;
  const held = leaves.flatMap(({ plan, issued }) =>
    issued?.facts ? [{ plan: { ...plan, secretName: issued.name }, facts: issued.facts }] : [],
  );
  return agreementDefects({ leaves: held, now: at }).filter(isFatal);
}
