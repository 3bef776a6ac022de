import type { Decision } from '../../reconcile/cluster/know/decision.ts';
import { quorumOf } from '../../reconcile/cluster/know/membership/quorum.ts';
import { formationOf, runningVoters, votersOf } from './model/etcd.ts';
import { recordIn } from './model/objects.ts';
import type { Place, World } from './model/state.ts';

const all = /delete (?:the )?EtcdCluster/;
const named = /delete pvc ((?:[a-z0-9-]+ ?)+)/g;
/** What says that it gives data up is a person's choice. */
const givesUp = /to start anew with no data|to give them up|call the adoption off/;

/**
 * I18: advice is an action. A cure that deletes or recreates is told only where no sealed volume of a formed cluster
 * would go, but for that of one member whose cluster has a quorum without it.
 */
export function destroys(world: World, decision: Decision): string | undefined {
  for (const { kind, ...told } of [decision, ...(decision.besides ?? [])]) {
    if (kind !== 'refuse' || !('cure' in told)) continue;
    for (const cure of told.cure.split('; or ').filter((one) => !givesUp.test(one))) {
      const lost = world.places.find((place) => goesBy(cure, place) && holdsData(place, world));
      if (lost) return `${told.reason} tells to delete ${lost.name}, whose volume is sealed: ${cure}`;
    }
  }
  return undefined;
}

function goesBy(cure: string, { name }: Place): boolean {
  const names = [...cure.matchAll(named)].flatMap(([, text = '']) => text.trim().split(' '));
  return names.length > 0 && !/with its PersistentVolumeClaims/.test(cure) ? names.includes(name) : all.test(cure);
}

/** By its own PVC. */
function holdsData(place: Place, world: World): boolean {
  const formation = formationOf(world, place.disk?.formation);
  const state = recordIn(place)?.state;
  if (!formation?.formed || (state !== 'sealed' && state !== 'hibernating')) return false;
  const others = runningVoters(world, formation).filter(({ id }) => id !== place.disk?.memberId);
  return others.length < quorumOf(votersOf(formation).length);
}
