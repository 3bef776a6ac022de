import type { EtcdClusterSpec } from '../../manifests/api/etcd-cluster.ts';
import { inputsHash } from '../../manifests/render/inputs-hash.ts';
import { bundledTrust } from '../../reconcile/cluster/know/certificates/trust.ts';
import type { Inputs } from '../../reconcile/cluster/know/spec/inputs.ts';
import { partOf } from '../run/part.ts';
import type { Change } from './model/git.ts';
import { type Leaf, namedLeaf, plainLeaf } from './model/leaves.ts';
import { look } from './model/look.ts';
import type { Consent } from './model/person.ts';
import type { Place, World } from './model/state.ts';
import { healthy } from './model/worlds.ts';
import { one, type Scenario } from './scenario.ts';

const issuer = { issuerRef: { name: 'company', kind: 'ClusterIssuer' } } as const;
const any = { tls: { mode: 'CertManager', certManager: issuer } } as const;
const own = { tls: { mode: 'CertManager', certManager: { ...issuer, allowedNames: 'Own' } } } as const;

/** Born with certificates of an issuer, which every member lets in. */
export function open(replicas: number): () => World {
  return certified(replicas, any, plainLeaf);
}

/** Born with names, which needs no person's consent: no certificate without one was ever let in. */
export function named(replicas: number): () => World {
  const make = certified(replicas, own, namedLeaf);
  return () => {
    const world = make();
    return { ...world, cluster: { ...world.cluster, agreedToNames: true } };
  };
}

function certified(replicas: number, tls: Partial<EtcdClusterSpec>, leaf: Leaf): () => World {
  return () => {
    const { places, ...world } = healthy({ replicas, ...tls }, 6);
    const begun = { ...world, ours: leaf, places: places.map((place) => born(showing(place, leaf))) };
    const { certificates } = look(begun, { nonce: '' });
    const trust = certificates.kind === 'read' ? bundledTrust(certificates) : undefined;
    if (trust === undefined) throw new Error('the members of a healthy cluster trust one issuer');
    return { ...begun, places: begun.places.map((place) => trusting(place, trust)) };
  };
}

/** The same, once the spec asks, and each leaf has its name: a person is asked. */
function asked(replicas: number): () => World {
  const make = open(replicas);
  return () => {
    const { cluster, places, ...world } = make();
    const spec = { ...cluster.spec, ...own };
    return {
      ...world,
      cluster: { ...cluster, spec },
      ours: namedLeaf,
      places: places.map((place) => showing(place, namedLeaf)),
    };
  };
}

/** As its inputs say. */
function born(place: Place): Place {
  const { peer, volume, process } = place;
  const { allowedNames } = peer?.inputs.tls ?? {};
  if (!allowedNames || volume?.record.kind !== 'valid' || !process) return place;
  const record = { kind: 'valid', record: { ...volume.record.record, allowedNames } } as const;
  return { ...place, volume: { ...volume, record }, process: { ...process, asks: true } };
}

function showing(place: Place, leaf: Leaf): Place {
  const { process } = place;
  return process ? { ...place, leaf, process: { ...process, shows: leaf } } : place;
}

function trusting(place: Place, trust: string): Place {
  const { peer, statefulSet, pod } = place;
  if (!peer || !statefulSet || !pod) return place;
  const inputs: Inputs = { ...peer.inputs, tls: { ...peer.inputs.tls, trust } };
  const hash = inputsHash(inputs);
  return {
    ...place,
    peer: { ...peer, inputs },
    statefulSet: { ...statefulSet, inputs, inputsHash: hash, updateRevision: hash },
    pod: { ...pod, inputs, hash },
  };
}

const asks: Change = { what: 'allowedNames: Own', spec: own };
const asksNot: Change = { what: 'allowedNames is taken out', spec: any };
const approves: Consent = { what: 'a person approves the names', person: 'approves the names' };
const takesBack: Consent = { what: 'a person takes the approval back', person: 'takes the approval back' };

/** While something else happens: in ring 1 one of them, by turns. */
const meanwhile: readonly Scenario[] = [
  one('names of 3, taken back', asked(3), [approves, asksNot, asks], { death: 1, late: 1, crash: 1 }, 2),
  one('names of 3, approval taken back', asked(3), [approves, takesBack, approves], { death: 1, late: 1 }, 2),
  one('names of 3 while a volume is lost', asked(3), [approves], { claim: 1, lost: 1, wipe: 1, death: 1 }, 2),
];

/** Members that let in every certificate of their issuer are to let in names, as a person approves. */
export const namesScenarios: readonly Scenario[] = [
  one('names of 3', open(3), [asks, approves], { death: 2, late: 1, crash: 1, second: 1, leader: 1 }, 2),
  one('names of 1', open(1), [asks, approves, asksNot], { death: 1, late: 1, crash: 1, second: 1, eviction: 1 }, 2),
  ...partOf(meanwhile),
];
