import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { isFleetKind } from '../../manifests/api/fleet-kinds.ts';
import { keptDefaults } from '../../manifests/api/kept-defaults.ts';
import { isReason, type Kube } from '../interfaces/kube.ts';
import { writeEvent } from '../objects/event.ts';
import { type FieldPath, sayFields, valueAt } from '../objects/fields.ts';
import type { Ownership } from './inherit-from-kubectl.ts';
import { fieldManager, keyOf } from './names.ts';
import { type FleetObject, resourceOf } from './objects.ts';
import { droppedBy } from './ownership.ts';
import type { DesiredSpec } from './reading.ts';

/** An object of Git that kubectl had written before. */
export interface Inherited {
  readonly spec: DesiredSpec;
  readonly live: FleetObject;
  readonly ownership: Ownership;
}

/** What the document does not have of it, but for defaults, which come back. */
export function goneFrom({ spec, live, ownership }: Inherited, manager: string): readonly FieldPath[] {
  const defaults = { spec: isFleetKind(live.kind) ? keptDefaults[live.kind] : {} };
  const roots = [['spec'], ['metadata', 'labels'], ['metadata', 'annotations']];
  return roots
    .flatMap((root) => droppedBy(spec, ownership, manager, root))
    .filter((path) => {
      const value = valueAt(live, path);
      return value !== undefined && value !== valueAt(defaults, path);
    });
}

/** Once, however many invocations take the object over. @throws {KubeError} */
export async function writeInherited(
  kube: Kube,
  fleet: EtcdFleet,
  news: Inherited,
  signal: AbortSignal,
): Promise<void> {
  const { spec, live, ownership } = news;
  const gone = goneFrom(news, fieldManager(fleet));
  const whose = `what ${ownership.from.join(', ')} wrote of it belongs to fleet ${keyOf(fleet)} from now on`;
  const rest = gone.length === 0 ? '' : `; what ${spec.file} does not list is removed: ${sayFields(gone)}`;
  // Events of what has no namespace are kept in `default`.
  const { namespace = 'default' } = live.metadata;
  try {
    await writeEvent(
      kube,
      { metadata: { ...live.metadata, namespace } },
      { type: 'Normal', action: 'Apply', reason: 'InheritedFromKubectl', note: `${whose}${rest}` },
      {
        id: `git-from-kubectl-${live.metadata.generation ?? 0}`,
        at: kube.now() ?? new Date(),
        signal,
        about: resourceOf(live.kind),
      },
    );
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}
