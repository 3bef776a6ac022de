import { type LeafPlan, ownNamesOf } from '../../../manifests/render/certificate-names.ts';
import { hashOf } from '../../../manifests/render/inputs-hash.ts';
import { authorityFacts, leafFacts } from '../../../reconcile/cluster/act/requests/issued-facts.ts';
import { namesOfLeaves, wantedLeaves } from '../../../reconcile/cluster/know/certificates/wanted.ts';
import type { Certificates, LeafView, Observation } from '../../../reconcile/cluster/know/observation.ts';
import { fatal } from '../../../reconcile/x509/defect.ts';
import type { LeafFacts } from '../../../reconcile/x509/inspect.ts';
import { type Defect, defectsOf } from '../../../reconcile/x509/judge.ts';
import { missingNames, requiredNames } from '../../../reconcile/x509/names.ts';
import { type Leaf, namedLeaf, plainLeaf } from './leaves.ts';
import type { Place, World } from './state.ts';

/**
 * Certificates of an issuer of cert-manager, as they are observed. They are valid, and what a rule would request, and
 * hand over, happens by itself (`signed`): what is left of them are the names by which members let in.
 */

type Seen = Pick<Observation, 'cluster' | 'slots' | 'at'>;

export function certificatesIn(world: World, { cluster, slots, at }: Seen): Certificates {
  const { ours, places } = world;
  if (!ours) return { kind: 'none' };
  const leaves = wantedLeaves(cluster, slots, 'CertManager').map((plan): LeafView => {
    if (plan.peer === undefined) return leafView(plan, { leaf: ours, at });
    const { leaf, process, pod } = places.find(({ name }) => name === plan.peer) ?? {};
    const served = pod?.container === 'running' ? process?.shows : undefined;
    return leafView(plan, { at, ...(leaf && { leaf }), ...(served && { served }) });
  });
  return { kind: 'read', authorities: {}, leaves, certManager: { kind: 'known' } };
}

interface Truth {
  readonly leaf?: Leaf;
  readonly served?: Leaf;
  readonly at: Date;
}

function leafView(plan: LeafPlan, { leaf, served, at }: Truth): LeafView {
  if (!leaf) return { plan, state: 'missing', defects: defectsOf({ data: undefined, plan, now: at }) };
  const facts = factsOf(plan, leaf);
  const shown = served && { served: factsOf(plan, served).fingerprint };
  return { plan, state: 'ours', facts, defects: nameless(plan, facts), ...shown };
}

/** Chains, keys and times are sound: of what `defectsOf` looks at, names are left. */
function nameless(plan: LeafPlan, facts: LeafFacts): readonly Defect[] {
  const { secretName } = plan;
  const names = missingNames(facts, requiredNames(plan));
  if (names.length === 0) return sound;
  const flaw = { reason: 'MissingNames', secretName, key: 'tls.crt', cure: 'issue it with its names' } as const;
  return [fatal({ ...flaw, problem: `is not valid for ${names.join(', ')}` })];
}

const sound: readonly Defect[] = [];
const ownNames = ownNamesOf({ namespace: 'shop', cluster: 'orders' });
const times = { notBefore: '2026-01-01T00:00:00Z', notAfter: '2026-04-01T00:00:00Z' };
const issuer = authorityFacts('company', { ...times, notAfter: '2036-01-01T00:00:00Z' }, { trusted: [] });
const known = new Map<string, LeafFacts>();

/** What it says of its holder is as it is planned now; whether it has names is the truth. */
function factsOf(plan: LeafPlan, leaf: Leaf): LeafFacts {
  const { secretName, commonName = '', usages } = plan;
  const named = leaf.named === true;
  const key = [secretName, commonName, usages, named].join();
  let facts = known.get(key);
  if (!facts) {
    facts = { ...leafFacts(withNames(plan, named), issuer, times), fingerprint: hashOf([secretName, named]) };
    known.set(key, facts);
  }
  return facts;
}

/** Of servers members ask for none. */
function withNames(plan: LeafPlan, named: boolean): LeafPlan {
  const { purpose, dnsNames } = plan;
  if (purpose === 'server' || purpose === 'gateway') return plan;
  const own = purpose === 'peer' ? ownNames.members : ownNames.clients;
  const others = dnsNames.filter((name) => name !== own);
  return { ...plan, dnsNames: named ? [...others, own] : others };
}

/** Requested, issued and handed over, for all at once; not while a step is under way. `undefined`: there is nothing. */
export function signed(world: World, seen: Pick<Observation, 'cluster' | 'slots'>): World | undefined {
  if (!world.ours) return undefined;
  const leaf = namesOfLeaves(seen.cluster, seen.slots, 'CertManager') ? namedLeaf : plainLeaf;
  const isDue = (place: Place) => place.peer?.current === true && place.leaf !== leaf;
  if (world.ours === leaf && !world.places.some(isDue)) return undefined;
  const places = world.places.map((place) => (isDue(place) ? { ...place, leaf } : place));
  return { ...world, ours: leaf, places };
}
