import type { DesiredSpec, DesiredTree } from '../../reconcile/fleet/reading.ts';

type Locate = NonNullable<DesiredSpec['locate']>;
type Place = ReturnType<Locate>;

/** A tree as it can be sent: a function can't, so the places of fields become a table. */
export interface PlainTree extends Omit<DesiredTree, 'specs'> {
  readonly specs: readonly PlainSpec[];
}

interface PlainSpec extends Omit<DesiredSpec, 'locate'> {
  readonly places?: ReadonlyMap<string, readonly [name: Place, value: Place]>;
}

/** Fields of one document, and how deep they lie: what a message can be about. */
const limits = { fields: 500, depth: 8 };

/** @param withPlaces whether fields will be looked for: it takes time */
export function toPlain(tree: DesiredTree, withPlaces: boolean): PlainTree {
  const specs = tree.specs.map(({ locate, ...spec }) =>
    locate && withPlaces ? { ...spec, places: placesIn(spec.object, locate) } : spec,
  );
  return { ...tree, specs };
}

export function fromPlain(tree: PlainTree): DesiredTree {
  const specs = tree.specs.map(({ places, ...spec }) => (places ? { ...spec, locate: finder(places, spec) } : spec));
  return { ...tree, specs };
}

/** Breadth first: of a huge document the upper fields are found. */
function placesIn(object: unknown, locate: Locate): Map<string, readonly [Place, Place]> {
  const places = new Map<string, readonly [Place, Place]>();
  const open: { readonly path: readonly (string | number)[]; readonly value: unknown }[] = [
    { path: [], value: object },
  ];
  for (let next = open.shift(); next && places.size < limits.fields; next = open.shift()) {
    const { path, value } = next;
    places.set(JSON.stringify(path), [locate(path, 'key'), locate(path, 'value')]);
    if (typeof value !== 'object' || value === null || path.length === limits.depth) continue;
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [key, child] of entries) {
      if (open.length > limits.fields) break;
      open.push({ path: [...path, key], value: child });
    }
  }
  return places;
}

function finder(places: ReadonlyMap<string, readonly [Place, Place]>, { line, column }: Place): Locate {
  return (path, part) => {
    for (let length = path.length; length >= 0; length--) {
      const found = places.get(JSON.stringify(path.slice(0, length)));
      // A missing field has no place: point at the object that lacks it.
      if (found) return part === 'value' && length === path.length ? found[1] : found[0];
    }
    return { line, column };
  };
}
