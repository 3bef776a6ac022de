import { isRecord } from '../../manifests/json.ts';
import { without } from '../objects/fields.ts';
import { managedFieldsOf } from '../objects/hands.ts';
import { droppedBy, ownershipBefore } from './ownership.ts';
import type { PlannedApply } from './plan.ts';

/**
 * The spec that is live after a document is applied, as far as the owners of fields tell it without a request: what the
 * document has, and what others own. Without records of owners, it is the document's.
 */
export function foreseenSpec(planned: Exclude<PlannedApply, { kind: 'settled' }>, manager: string): unknown {
  const { spec } = planned;
  if (planned.kind === 'create') return spec.object.spec;
  const entries = managedFieldsOf(planned.live);
  if (entries.length === 0) return spec.object.spec;
  const ownership = ownershipBefore(planned.kind, entries, manager) ?? { entries, from: [] };
  const left = without(planned.live, droppedBy(spec, ownership, manager));
  return laidOver(left.spec, spec.object.spec);
}

/** Maps are merged, and lists are of one owner, as the API server applies them. A null asks for nothing. */
function laidOver(live: unknown, document: unknown): unknown {
  if (!isRecord(live) || !isRecord(document)) return document ?? live;
  const names = new Set([...Object.keys(live), ...Object.keys(document)]);
  return Object.fromEntries([...names].map((name) => [name, laidOver(live[name], document[name])]));
}
