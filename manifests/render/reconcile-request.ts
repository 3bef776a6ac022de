import { annotations } from './names.ts';

interface Asked {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: { readonly lastHandledReconcileAt?: string };
}

/** As many characters as a status keeps of an answer; who asks with more than that, is answered by their beginning. */
const longest = 253;

/** The value of `etcd.ratchet.dev/reconcile`: any text, usually a time. `undefined`: never asked. */
export function reconcileRequestOf({ metadata }: Pick<Asked, 'metadata'>): string | undefined {
  const asked = metadata.annotations?.[annotations.reconcile];
  // By characters, as the schema counts them: half of one would come back from the API server as another one.
  return asked === undefined ? undefined : [...asked.slice(0, 2 * longest)].slice(0, longest).join('');
}

/** Whether a person asked for a look at everything that was not answered yet. */
export function wantsReconcile(object: Asked): boolean {
  const asked = reconcileRequestOf(object);
  return asked !== undefined && asked !== object.status?.lastHandledReconcileAt;
}
