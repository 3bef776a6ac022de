import {
  authorityRequest,
  type CertificateRequest,
  certificateRequestResource,
} from '../../../manifests/render/cert-manager-request.ts';
import { authoritySecretName } from '../../../manifests/render/certificate-names.ts';
import { ownerReference } from '../../../manifests/render/owner-reference.ts';
import { readAuthority } from '../../../reconcile/cluster/act/requests/authorities.ts';
import {
  dropSigning,
  orderSigning,
  readSigning,
  takeSigned,
} from '../../../reconcile/cluster/act/requests/intermediates.ts';
import { intermediateDue } from '../../../reconcile/cluster/know/certificates/intermediate.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { moved } from '../../../reconcile/cluster/know/outcome.ts';
import { requestFor } from '../../../reconcile/x509/issue.ts';
import { type Answer, answered, rootAuthority } from '../../e2e/support/signed-requests.ts';
import { type Contracts, othersAct } from './contract.ts';
import { clusterName, type Scene } from './scene.ts';
import { authority } from './secrets.ts';
import { whenStale } from './stale.ts';

/** What the contracts let an issuer do. */
export const allowedInContracts = 'Issuer/company=CA:TRUE';

const tls = { mode: 'Managed', managed: { issuerRef: { name: 'company' } } } as const;
const secret = { object: 'secret', name: authoritySecretName(clusterName, 'client') } as const;

function orderOf(seen: Pick<Observation, 'cluster' | 'certificates' | 'at'>) {
  const order = seen.certificates.kind === 'read' && intermediateDue(seen.cluster, seen.certificates, seen.at);
  if (!order) throw new Error('nothing is to be signed');
  return order;
}

const withCa = (scene: Scene) => authority(scene, 'client');

/** `theirs`: of another owner. */
const asked =
  (how: Answer | 'hold' = 'hold', { isTheirs = false } = {}) =>
  async (scene: Scene): Promise<void> => {
    const { made } = await withCa(scene);
    const { observation } = await scene.look();
    const { name, issuerRef, lifetime } = orderOf(observation);
    const owner = ownerReference('EtcdCluster', scene.cluster);
    const wanted = authorityRequest({
      ...{ name, issuerRef, lifetime, cluster: clusterName, namespace: scene.namespace },
      owner: isTheirs ? { ...owner, uid: '00000000-0000-4000-8000-000000000004' } : owner,
      request: await requestFor(made),
    });
    const found = await scene.make<CertificateRequest>(certificateRequestResource, wanted);
    if (how === 'hold') return;
    const notBefore = new Date(Math.floor(Date.now() / 1000) * 1000 - 3600e3);
    const validity = { notBefore, notAfter: new Date(notBefore.getTime() + 1000 * 3600e3) };
    const reply = answered(found, rootAuthority('company', validity), { how, validity });
    await scene.kube.updateStatus<CertificateRequest>(certificateRequestResource, reply);
  };

function* askedOf(seen: Observation) {
  const found = yield* readAuthority({ authority: 'client' });
  if (!found) throw moved('there is no CA');
  return { order: orderOf(seen), authority: found.readAt, at: seen.at.toISOString() };
}

function* reads(seen: Observation) {
  return yield* readSigning(yield* askedOf(seen));
}

function* orders(seen: Observation, issuer?: string) {
  const one = yield* askedOf(seen);
  const order = issuer === undefined ? one.order : { ...one.order, issuerRef: { name: issuer } };
  yield* othersAct();
  return yield* orderSigning({ ...one, order });
}

function* takes(seen: Observation) {
  const one = yield* askedOf(seen);
  const found = yield* readSigning(one);
  if (!found) throw moved('nothing was asked');
  yield* othersAct();
  return yield* takeSigned({ ...one, signed: found.readAt });
}

function* drops(seen: Observation) {
  const one = yield* askedOf(seen);
  const found = yield* readSigning(one);
  if (!found || !('uid' in found.signing)) throw moved('nothing was asked');
  yield* othersAct();
  return yield* dropSigning({ order: one.order, uid: found.signing.uid });
}

export const intermediates = {
  readSigning: [
    { when: 'nothing was asked', tls, start: withCa, asks: reads },
    { when: 'it waits', tls, start: asked(), asks: reads },
    { when: 'its issuer refused', tls, start: asked('fail'), asks: reads },
    { when: 'it was denied', tls, start: asked('deny'), asks: reads },
    { when: 'it is signed', tls, start: asked('sign'), asks: reads },
    { when: 'it is signed, and no CA', tls, start: asked('leaf'), asks: reads },
    { when: 'it is of another owner', tls, start: asked('sign', { isTheirs: true }), asks: reads },
  ],
  orderSigning: [
    { when: 'nothing was asked', tls, start: withCa, asks: (seen) => orders(seen) },
    {
      when: 'another step has asked since it was looked for',
      tls,
      start: asked(),
      asks: (seen) => orders(seen),
      refused: 'precondition WorldMoved',
    },
    {
      when: 'the installation does not let the cluster have a CA of that issuer',
      tls,
      start: withCa,
      asks: (seen) => orders(seen, 'other'),
      refused: 'terminal CertificateNamesRefused',
      differs: {
        because: 'a rule judges it before a plan gets here',
        model: 'well',
        not: ['left.certificates.authorities'],
      },
    },
  ],
  takeSigned: [
    { when: 'it is signed', tls, start: asked('sign'), asks: takes },
    ...whenStale(secret, { tls, start: asked('sign'), asks: takes }),
  ],
  dropSigning: [
    { when: 'it is as it was read', tls, start: asked('sign'), asks: drops },
    { when: 'its issuer refused', tls, start: asked('fail'), asks: drops },
  ],
} as const satisfies Readonly<Record<string, Contracts>>;
