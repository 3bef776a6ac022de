import type { Event } from '../../../manifests/kube-types.ts';
import { type KubeObject, resources } from '../../../reconcile/interfaces/kube.ts';
import { put, type State } from './state.ts';

/** Events as Kubernetes' recorders make them: a repetition counts up, and not at every look. */

const againAfter = 60_000;

export function warnOf(
  state: State,
  kind: 'Pod' | 'StatefulSet',
  object: KubeObject,
  code: string,
  note: string,
): void {
  const { namespace = '', name, uid = '' } = object.metadata;
  const events = state.kube.stored<Event>(resources.events);
  const found = events.find(({ reason, regarding }) => reason === code && regarding?.uid === uid);
  const now = state.clock();
  if (found && now - Date.parse(found.deprecatedLastTimestamp ?? '') < againAfter) return;
  const timestamp = `${new Date(now).toISOString().slice(0, 19)}Z`;
  put<Event>(state, resources.events, found, {
    ...(found ?? { metadata: { name: `${name}.${code}.${uid}`, namespace }, deprecatedFirstTimestamp: timestamp }),
    reason: code,
    note,
    type: 'Warning',
    deprecatedCount: (found?.deprecatedCount ?? 0) + 1,
    deprecatedLastTimestamp: timestamp,
    regarding: { kind, namespace, name, uid },
  });
}
