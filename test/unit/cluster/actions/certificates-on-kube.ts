import type { Secret } from '../../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../../manifests/render/cert-manager-certificate.ts';
import type { LeafPlan } from '../../../../manifests/render/certificate-names.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import { isStrangersWord } from '../../../../reconcile/cluster/know/certificates/authority.ts';
import { orderFor } from '../../../../reconcile/cluster/know/certificates/order.ts';
import type {
  AuthorityView,
  Certificates,
  LeafView,
  Observation,
  ReadCertificates,
  RequestedView,
} from '../../../../reconcile/cluster/know/observation.ts';
import { readCertificates } from '../../../../reconcile/cluster/observe/certificates/read.ts';
import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { createAuthority, issueLeaf } from '../../../../reconcile/x509/issue.ts';
import { leafData } from '../../../../reconcile/x509/secret-data.ts';
import type { FakeKube } from '../../../support/fakes/kube.ts';
import { plansOf } from '../certificates.ts';
import { namespace, prepared, withRecord } from '../observations.ts';
import { kubeOf } from './on-kube.ts';

/** As a step would observe them now. */
export async function certificatesOf({ cluster, slots, at }: Observation, kube: FakeKube): Promise<ReadCertificates> {
  const items = kube.stored<CertManagerCertificate>(certificateResource);
  const asks = cluster.spec.tls?.mode === 'CertManager';
  const requested = asks ? ({ kind: 'known', items } as const) : ({ kind: 'unasked' } as const);
  const wire = async () => undefined;
  const signal = AbortSignal.timeout(60_000);
  const { certificates } = await readCertificates({ kube, wire, cluster, slots, requested, at, signal });
  if (certificates.kind !== 'read') throw new Error(`the certificates are ${certificates.kind}`);
  return certificates;
}

/** What rules look at, but for what differs each time that one is made. */
export function said(certificates: Certificates): unknown {
  if (certificates.kind !== 'read') return certificates.kind;
  const { authorities, leaves } = certificates;
  return [Object.values(authorities).map(ofAuthority), leaves.map((leaf) => ofLeaf(leaf, certificates))];
}

function ofAuthority({ name, state, record, facts }: AuthorityView): unknown {
  const { trust, ...rest } = record ?? { token: undefined };
  const word = trust === undefined ? 'none' : isStrangersWord(trust) ? "a stranger's" : 'known';
  const { keyMatches, crossed, isAuthority, notAfter, cross } = facts ?? {};
  return [
    name,
    state,
    rest,
    word,
    { keyMatches, crossed, isAuthority, notAfter, until: cross?.notAfter },
    trusts(facts),
  ];
}

function ofLeaf({ plan, state, facts, defects, issued, handedOverAt }: LeafView, read: ReadCertificates): unknown {
  const { commonName, dnsNames, ipAddresses, usages, notAfter, keyMatches, chainLength } = facts ?? {};
  const isOfTheNewest = facts && facts.issuer === read.authorities[plan.authority]?.facts?.subject;
  const names = [commonName, dnsNames?.toSorted(), ipAddresses?.toSorted(), usages?.toSorted()];
  const { certificate, secret, owned } = issued ?? {};
  const asked = certificate?.state === 'ours' ? ofCertificate(certificate) : certificate?.state;
  const reasons = defects.map(({ reason }) => reason);
  const made = [names, notAfter, keyMatches, chainLength, isOfTheNewest, trusts(facts)];
  return [plan.secretName, state, reasons, handedOverAt, made, [asked, secret, owned]];
}

function ofCertificate({ current, said, asked }: Extract<RequestedView, { state: 'ours' }>): unknown {
  return [current, said.state, asked.issuerRef.name, asked.names.toSorted()];
}

function trusts(facts: { readonly trust: readonly string[]; readonly authorities: readonly unknown[] } | undefined) {
  return facts && [facts.trust.length, facts.authorities.length];
}

/** A cluster that asks cert-manager, and nothing asked yet. */
export function byCertManager() {
  const mode = { tlsMode: 'CertManager' } as const;
  const asking = withIssuer(prepared(3, { every: withRecord(mode) }), 'company');
  return { asking, kube: kubeOf(asking), request: (issuer: string) => requestTo(withIssuer(asking, issuer)) };
}

export function withIssuer(observation: Observation, name: string): Observation {
  const { cluster } = observation;
  const tls = { mode: 'CertManager', certManager: { issuerRef: { name } } } as const;
  return { ...observation, cluster: { ...cluster, spec: { ...cluster.spec, tls } } };
}

function requestTo({ cluster, slots }: Observation): ActionOf<'request-certificates'> {
  const requests = plansOf(3).flatMap((plan) => orderFor(cluster, slots, plan) ?? []);
  return { kind: 'request-certificates', requests };
}

/** What cert-manager does, in a cluster in which it sets no owners: all that it was asked for is signed by one CA. */
export async function answer(kube: FakeKube, at: Date): Promise<void> {
  const life = { notBefore: new Date(at.getTime() - 6e5), notAfter: new Date(at.getTime() + 1e10) };
  const company = await createAuthority({ commonName: 'company', ...life });
  for (const { metadata, spec } of kube.stored<CertManagerCertificate>(certificateResource)) {
    const { commonName = '', dnsNames = [], ipAddresses = [] } = spec;
    const usages = ['serverAuth', 'clientAuth'] as const;
    const plan = { secretName: metadata.name, commonName, dnsNames, ipAddresses, usages } as unknown as LeafPlan;
    const data = leafData(await issueLeaf(plan, company, life), [company.certificate]);
    const marks = { 'cert-manager.io/certificate-name': metadata.name };
    const secret = { name: metadata.name, namespace, uid: `${metadata.name}-uid`, annotations: marks };
    kube.seed<Secret>(resources.secrets, { apiVersion: 'v1', kind: 'Secret', metadata: secret, data });
  }
}
