import { isFatal } from '../../../x509/defect.ts';
import { agreementDefects, type Defect } from '../../../x509/judge.ts';
import type { ReadCertificates } from '../observation.ts';

/** Fatal defects of certificates that a person provides: of each alone, or of all of them together. */
export function sourceDefects({ at }: { readonly at: Date }, { leaves }: ReadCertificates): readonly Defect[] {
  const own = leaves.flatMap(({ issued }) => issued?.defects ?? []).filter(isFatal);
  if (own.length > 0) return own;
  const held = leaves.flatMap(({ plan, issued }) =>
    issued?.facts ? [{ plan: { ...plan, secretName: issued.name }, facts: issued.facts }] : [],
  );
  return agreementDefects({ leaves: held, now: at }).filter(isFatal);
}
