import type { LeafPlan } from '../../../manifests/render/certificate-names.ts';
import { readAuthority } from '../../../reconcile/cluster/act/requests/authorities.ts';
import type { LeafOwner } from '../../../reconcile/cluster/act/requests/certificate-secrets.ts';
import {
  handOverLeaf,
  ownerOf,
  readLeaf,
  signLeaf,
  trustBesideLeaf,
} from '../../../reconcile/cluster/act/requests/leaves.ts';
import { validityFrom } from '../../../reconcile/cluster/know/certificates/validity.ts';
import type { LeafView, Observation } from '../../../reconcile/cluster/know/observation.ts';
import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import type { Program } from '../../../reconcile/requests/program.ts';
import { type Contract, type Contracts, othersAct } from './contract.ts';
import { member } from './members.ts';
import type { Scene } from './scene.ts';
import {
  authority,
  byCertManager,
  certificate,
  issued,
  type LeafOwnerStart,
  leaf,
  managed,
  planOf,
} from './secrets.ts';
import { whenStale } from './stale.ts';

/** Of a member, and of the applications. */
const ofMember = 'orders-0-peer-tls';
const ofCluster = 'orders-client-tls';
const ofServer = 'orders-0-server-tls';
const ofGateway = 'orders-gateway-tls';
const tls = managed;

interface LeafStart {
  readonly name?: string;
  readonly owner?: LeafOwnerStart;
  readonly isWhole?: boolean;
  /** Of the CA that was there before. */
  readonly of?: 'earlier';
  /** An issuer of cert-manager has signed its CA since. */
  readonly signed?: 'this';
}

/** A CA, and what it has signed. */
const withLeaf =
  ({ name = ofMember, of, signed: since, ...start }: LeafStart = {}) =>
  async (scene: Scene) => {
    await member(scene, { upTo: 'peer' });
    const plan = await planOf(scene, name);
    const { made, earlier } = await authority(scene, plan.authority, {
      beside: of === 'earlier',
      ...(since && { signed: since }),
    });
    await leaf(scene, plan, of === 'earlier' ? earlier : made, start);
  };

const withoutLeaf = async (scene: Scene) => {
  await member(scene, { upTo: 'peer' });
  await Promise.all([authority(scene, 'peer', { beside: true }), authority(scene, 'client')]);
};

function leafIn({ certificates }: Observation, name: string): LeafView {
  const found = certificates.kind === 'read' && certificates.leaves.find(({ plan }) => plan.secretName === name);
  if (!found) throw new Error(`${name} was not looked at`);
  return found;
}

function ownerUidIn({ cluster, slots }: Observation, name: string): string {
  return ([ofCluster, ofGateway].includes(name) ? cluster.metadata.uid : slots[0]?.peer?.uid) ?? '';
}

function* ownedBy(seen: Observation, plan: LeafPlan): Program<LeafOwner> {
  const peerUid = seen.slots[0]?.peer?.uid ?? '';
  const { metadata } = seen.cluster;
  const claimed = { namespace: '', name: '', uid: metadata.uid ?? '', annotations: {}, deleting: false };
  return yield* ownerOf({ plan, peerUid }, claimed);
}

function read(seen: Observation, name: string) {
  return readLeaf({ name, ownerUid: ownerUidIn(seen, name) });
}

function* signed(seen: Observation, name = ofMember, isThere = true) {
  const { plan } = leafIn(seen, name);
  const owner = yield* ownedBy(seen, plan);
  const found = isThere ? yield* read(seen, name) : undefined;
  const signer = yield* readAuthority({ authority: plan.authority });
  if (!signer) throw moved('there is no CA');
  yield* othersAct();
  const validity = validityFrom(undefined, seen.at);
  return yield* signLeaf({
    plan,
    owner,
    ...(found && { readAt: found.readAt }),
    authority: signer.readAt,
    validity,
  });
}

function* bundled(seen: Observation, name = ofMember) {
  const { plan } = leafIn(seen, name);
  const owner = yield* ownedBy(seen, plan);
  const found = yield* read(seen, name);
  const signer = yield* readAuthority({ authority: plan.authority });
  if (!signer || !found) throw moved('there is no CA, or no leaf');
  yield* othersAct();
  const at = seen.at.toISOString();
  return yield* trustBesideLeaf({ plan, owner, readAt: found.readAt, authority: signer.readAt, at });
}

/** What cert-manager has, and what is mounted by now, if anything. */
const withIssued = (isMounted: boolean) => async (scene: Scene) => {
  await member(scene, { upTo: 'peer' });
  const plan = await planOf(scene, ofMember);
  const owner = await certificate(scene, plan);
  await issued(scene, plan, { owner });
  if (!isMounted) return;
  await leaf(scene, plan, (await authority(scene, 'client')).made);
};

function* handedOver(seen: Observation, isThere = true) {
  const { plan, issued: source } = leafIn(seen, ofMember);
  const owner = yield* ownedBy(seen, plan);
  const found = isThere ? yield* read(seen, ofMember) : undefined;
  const pair = yield* readLeaf({ name: source?.name ?? '' });
  if (!pair?.facts) throw moved('cert-manager has nothing');
  yield* othersAct();
  const trusted = [...pair.facts.authorities, ...(found?.facts?.authorities ?? [])];
  const at = seen.at.toISOString();
  return yield* handOverLeaf({
    plan,
    owner,
    ...(found && { readAt: found.readAt }),
    pair: pair.readAt,
    trusted,
    at,
  });
}

const secret = { object: 'secret', name: ofMember } as const;
const stale = (asks: Contract['asks']) => whenStale(secret, { tls, start: withLeaf(), asks });
const peerGoes: Pick<Contract, 'others'> = { others: [{ does: 'deletes', object: 'peer', name: 'orders-0' }] };

export const leaves = {
  readLeaf: [
    { when: "it is a member's", tls, start: withLeaf(), asks: (seen) => read(seen, ofMember) },
    { when: "it is the cluster's", tls, start: withLeaf({ name: ofCluster }), asks: (seen) => read(seen, ofCluster) },
    { when: 'there is none', tls, start: withoutLeaf, asks: (seen) => read(seen, ofMember) },
    {
      when: 'it is of an earlier peer',
      tls,
      start: withLeaf({ owner: 'gone' }),
      asks: (seen) => read(seen, ofMember),
    },
    {
      when: 'it is of nothing of ours',
      tls,
      start: withLeaf({ owner: 'none' }),
      asks: (seen) => read(seen, ofMember),
    },
    {
      when: 'it cannot be read',
      tls,
      start: withLeaf({ isWhole: false }),
      asks: (seen) => read(seen, ofMember),
    },
    {
      when: 'cert-manager wrote it',
      tls: byCertManager,
      start: withIssued(false),
      asks: () => readLeaf({ name: `${ofMember}-issued` }),
    },
    {
      when: 'cert-manager has not written it yet',
      tls: byCertManager,
      start: (scene) => member(scene, { upTo: 'peer' }),
      asks: () => readLeaf({ name: `${ofMember}-issued` }),
    },
  ],
  signLeaf: [
    { when: 'there is none', tls, start: withoutLeaf, asks: (seen) => signed(seen) },
    { when: "there is none, of the cluster's", tls, start: withoutLeaf, asks: (seen) => signed(seen, ofCluster) },
    {
      when: 'there is none, without a common name',
      tls: { ...tls, gatewayClient: 'Enabled' },
      start: withoutLeaf,
      asks: (seen) => signed(seen, ofGateway),
    },
    { when: 'it is renewed', tls, start: withLeaf(), asks: (seen) => signed(seen) },
    {
      when: 'it is renewed, and an issuer has signed its CA as well',
      tls,
      start: withLeaf({ name: ofServer, signed: 'this' }),
      asks: (seen) => signed(seen, ofServer),
    },
    {
      when: "it is renewed, of the cluster's",
      tls,
      start: withLeaf({ name: ofCluster }),
      asks: (seen) => signed(seen, ofCluster),
    },
    { when: 'it was of the CA before', tls, start: withLeaf({ of: 'earlier' }), asks: (seen) => signed(seen) },
    { when: 'the one before cannot be read', tls, start: withLeaf({ isWhole: false }), asks: (seen) => signed(seen) },
    {
      when: 'another step has made it since it was looked for',
      tls,
      start: withLeaf(),
      asks: (seen) => signed(seen, ofMember, false),
      refused: 'precondition WorldMoved',
    },
    { when: 'its peer went meanwhile', tls, start: withoutLeaf, ...peerGoes, asks: (seen) => signed(seen) },
    ...stale((seen) => signed(seen)),
  ],
  trustBesideLeaf: [
    { when: 'another CA is to be trusted', tls, start: withLeaf({ of: 'earlier' }), asks: (seen) => bundled(seen) },
    { when: 'these are trusted already', tls, start: withLeaf(), asks: (seen) => bundled(seen) },
    {
      when: 'an issuer has signed its CA as well',
      tls,
      start: withLeaf({ name: ofServer, signed: 'this' }),
      asks: (seen) => bundled(seen, ofServer),
    },
    {
      when: 'an issuer has signed its CA as well, and members verify it without',
      tls,
      start: withLeaf({ signed: 'this' }),
      asks: (seen) => bundled(seen),
    },
    {
      when: "it is the cluster's",
      tls,
      start: withLeaf({ name: ofCluster }),
      asks: (seen) => bundled(seen, ofCluster),
    },
    { when: 'its peer went meanwhile', tls, start: withLeaf(), ...peerGoes, asks: (seen) => bundled(seen) },
    ...stale((seen) => bundled(seen)),
  ],
  handOverLeaf: [
    { when: 'nothing is mounted yet', tls: byCertManager, start: withIssued(false), asks: (seen) => handedOver(seen) },
    { when: 'another one is mounted', tls: byCertManager, start: withIssued(true), asks: (seen) => handedOver(seen) },
    {
      when: 'another step has made it since it was looked for',
      tls: byCertManager,
      start: withIssued(true),
      asks: (seen) => handedOver(seen, false),
      refused: 'precondition WorldMoved',
    },
    ...whenStale(secret, { tls: byCertManager, start: withIssued(true), asks: (seen) => handedOver(seen) }),
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
