import type { LeafPlan } from '../../../manifests/render/certificate-names.ts';
import {
  adoptIssued,
  orderCertificate,
  readCertificate,
  readIssued,
} from '../../../reconcile/cluster/act/requests/cert-manager.ts';
import { livePeer } from '../../../reconcile/cluster/act/requests/objects.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import type { Program } from '../../../reconcile/requests/program.ts';
import { type Contracts, type Difference, othersAct } from './contract.ts';
import { member } from './members.ts';
import type { Scene } from './scene.ts';
import {
  byCertManager,
  certificate,
  type IssuedStart,
  issued,
  type LeafOwnerStart,
  orderOf,
  planOf,
} from './secrets.ts';
import { whenStale } from './stale.ts';

const name = 'orders-0-server-tls-issued';
const tls = byCertManager;

/** A member, and what was asked for it, if anything. */
const asked =
  (start?: { readonly issuer?: string; readonly owner?: LeafOwnerStart }) =>
  async (scene: Scene): Promise<string> => {
    const plan = await unasked(scene);
    return certificate(scene, plan, start);
  };

async function unasked(scene: Scene): Promise<LeafPlan> {
  await member(scene, { upTo: 'peer' });
  return planOf(scene, 'orders-0-server-tls');
}

/** What cert-manager answered; it owns that Secret, or does not. */
const answered =
  ({ isOwned = false, ...start }: IssuedStart & { readonly isOwned?: boolean } = {}) =>
  async (scene: Scene) => {
    const plan = await unasked(scene);
    const uid = await certificate(scene, plan);
    await issued(scene, plan, { ...(isOwned && { owner: uid }), ...start });
  };

function planIn({ certificates }: Observation): LeafPlan {
  const found = certificates.kind === 'read' && certificates.leaves.find(({ issued: of }) => of?.name === name);
  if (!found) throw new Error(`${name} was not looked at`);
  return found.plan;
}

function uidIn({ certificates }: Observation): string | undefined {
  const found = certificates.kind === 'read' && certificates.leaves.find(({ issued: of }) => of?.name === name);
  const certificateSeen = found ? found.issued?.certificate : undefined;
  return certificateSeen?.state === 'ours' ? certificateSeen.uid : undefined;
}

function* ordered(seen: Observation, issuer?: string) {
  const peer = yield* livePeer('orders-0');
  return { order: orderOf(planIn(seen), issuer), owner: { uid: peer.uid, peer: peer.readAt } };
}

function* readCertificateOf(seen: Observation) {
  return yield* readCertificate(yield* ordered(seen));
}

function* ordersIt(seen: Observation, issuer?: string, isThere = true) {
  const all = yield* ordered(seen, issuer);
  const found = isThere ? yield* readCertificate(all) : undefined;
  yield* othersAct();
  return yield* orderCertificate({ ...all, ...(found && { readAt: found.readAt }) });
}

function* readIssuedOf(seen: Observation): Program<unknown> {
  const certificateUid = uidIn(seen);
  return yield* readIssued({ name, ...(certificateUid !== undefined && { certificateUid }) });
}

function* adopted(seen: Observation) {
  const certificateUid = uidIn(seen) ?? '';
  const found = yield* readIssued({ name, certificateUid });
  if (!found) throw moved('cert-manager has not answered');
  yield* othersAct();
  return yield* adoptIssued({ readAt: found.readAt, certificateUid });
}

const noUid: Difference = {
  because: 'an observation has no UID of a Certificate that is not ours',
  not: ['answer.uid'],
};

export const certManager = {
  readCertificate: [
    { when: 'it asks for what is wanted', tls, start: asked(), asks: readCertificateOf },
    { when: 'it asks another issuer', tls, start: asked({ issuer: 'other' }), asks: readCertificateOf },
    { when: 'there is none', tls, start: unasked, asks: readCertificateOf },
    { when: 'it is of an earlier peer', tls, start: asked({ owner: 'gone' }), asks: readCertificateOf, differs: noUid },
    { when: 'it is of nothing of ours', tls, start: asked({ owner: 'none' }), asks: readCertificateOf, differs: noUid },
  ],
  orderCertificate: [
    { when: 'nothing was asked yet', tls, start: unasked, asks: (seen) => ordersIt(seen) },
    { when: 'another issuer was asked', tls, start: asked({ issuer: 'other' }), asks: (seen) => ordersIt(seen) },
    { when: 'it is asked for already', tls, start: asked(), asks: (seen) => ordersIt(seen) },
    {
      when: 'another step has asked since it was looked for',
      tls,
      start: asked(),
      asks: (seen) => ordersIt(seen, undefined, false),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'its peer went meanwhile',
      tls,
      start: unasked,
      others: [{ does: 'deletes', object: 'peer', name: 'orders-0' }],
      asks: (seen) => ordersIt(seen),
    },
    ...whenStale(
      { object: 'certificate', name },
      { tls, start: asked({ issuer: 'other' }), asks: (seen) => ordersIt(seen) },
    ),
  ],
  readIssued: [
    { when: 'it goes with its Certificate', tls, start: answered({ isOwned: true }), asks: readIssuedOf },
    { when: 'it goes with nothing', tls, start: answered(), asks: readIssuedOf },
    { when: 'it is of an earlier Certificate', tls, start: answered({ owner: 'earlier' }), asks: readIssuedOf },
    { when: 'cert-manager has not written it', tls, start: answered({ isIssued: false }), asks: readIssuedOf },
    { when: 'there is none', tls, start: asked(), asks: readIssuedOf },
    {
      when: 'it is there, and nothing was asked',
      tls,
      start: async (scene) => issued(scene, await unasked(scene)),
      asks: readIssuedOf,
    },
  ],
  adoptIssued: [
    { when: 'it goes with nothing', tls, start: answered(), asks: adopted },
    ...whenStale({ object: 'secret', name }, { tls, start: answered(), asks: adopted }),
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
