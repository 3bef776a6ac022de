import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { parseDuration } from '../../../manifests/api/duration.ts';
import type { Secret } from '../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../manifests/render/cert-manager-certificate.ts';
import { type CertificateRequest, certificateRequestResource } from '../../../manifests/render/cert-manager-request.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { type Authority, createAuthority, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { leafData } from '../../../reconcile/x509/secret-data.ts';
import type { Kubectl } from '../../support/cluster/kubectl.ts';
import { startController } from './controller.ts';
import {
  askedBy,
  conditionOf,
  failedStatus,
  issuedStatus,
  issuingStatus,
  planOf,
  readLeaf,
  renewalTimeOf,
  type Status,
  secretOf,
  violation,
} from './issuer-answers.ts';
import { renewed } from './renewal.ts';
import { answered } from './signed-requests.ts';

/**
 * Stands in for cert-manager in one namespace: its controllers' half of the conversation, with CAs of its own, one for
 * each issuer that a Certificate names. It makes no CertificateRequests, answers those of others, and does not wait for
 * an hour after a failure.
 */
export interface Issuer extends AsyncDisposable {
  /** What it is, for people. */
  readonly title: string;
  /** Answers nothing but that it is at it, as an issuer that a person must approve; for these names or for all. */
  hold(...names: string[]): void;
  /** From now on refuses, with this message, for these names or for all. */
  fail(message: string, ...names: string[]): void;
  /** Issues again, also what it held or refused. */
  resume(): void | Promise<void>;
  /** What `cmctl renew` does; resolves when the new one is in its Secret and the status says so. @throws if refused. */
  renew(name: string): Promise<void>;
  /** The next certificates of that issuer come from another CA. Those there are stay, until they are renewed. */
  replaceAuthority(issuer: string): Promise<void>;
  /** PEM: what its certificates are trusted by. */
  authority(issuer: string): Promise<string>;
}

export interface IssuerOptions {
  readonly kube: Kube;
  readonly namespace: string;
  /** Milliseconds that every certificate lives, whatever was asked for, as some issuers have it. */
  readonly lifetime?: number;
  /**
   * Milliseconds before now at which they begin, as some issuers have it against clocks that differ; cert-manager's
   * own: none.
   */
  readonly backdated?: number;
}

const crds = resolve(import.meta.dirname, '../../support/fixtures/cert-manager');
const year = 365 * 24 * 3600e3;

/** Makes Certificates, and requests, kinds of this cluster. May be said again, also by several at once. */
export async function installCertificates(kubectl: Kubectl): Promise<void> {
  await kubectl(['apply', '--server-side', '-f', crds]);
  const names = ['certificates', 'certificaterequests'].map((kind) => `crd/${kind}.cert-manager.io`);
  await kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
}

type Mode = { readonly kind: 'issue' | 'hold' | 'fail'; readonly message: string; readonly names: readonly string[] };
const issuing: Mode = { kind: 'issue', message: '', names: [] };

export async function startIssuer({ kube, namespace, lifetime, backdated = 0 }: IssuerOptions): Promise<Issuer> {
  const authorities = new Map<string, Promise<Authority>>();
  /** Stands for the CertificateRequests: what each Certificate, by UID, asked for when it was issued. */
  const asked = new Map<string, string>();
  /** UID and generation of what was refused: not tried again before either changes, or it is told to. */
  const refused = new Set<string>();
  const stop = new AbortController();
  const { signal } = stop;
  let mode = issuing;

  const authorityOf = (issuer: string) => {
    const known = authorities.get(issuer) ?? newAuthority(issuer);
    authorities.set(issuer, known);
    return known;
  };

  async function attendAll(): Promise<number> {
    const certificates = await kube.list<CertManagerCertificate>(certificateResource, { namespace, signal });
    const secrets = await kube.list<Secret>(resources.secrets, { namespace, signal });
    let due = Number.POSITIVE_INFINITY;
    for (const certificate of certificates.items) {
      const found = secrets.items.find(({ metadata }) => metadata.name === certificate.spec.secretName);
      due = Math.min(due, await attend(certificate, found));
    }
    const requests = await kube.list<CertificateRequest>(certificateRequestResource, { namespace, signal });
    for (const request of requests.items) await answerRequest(request);
    return due;
  }

  async function answerRequest(request: CertificateRequest): Promise<void> {
    if (request.status !== undefined || mode.kind === 'hold') return;
    const notBefore = new Date(Math.floor(Date.now() / 1000) * 1000 - backdated);
    const life = lifetime ?? parseDuration(request.spec.duration ?? '2160h');
    const validity = { notBefore, notAfter: new Date(notBefore.getTime() + life) };
    const how = mode.kind === 'fail' ? 'deny' : 'sign';
    const reply = answered(request, await authorityOf(request.spec.issuerRef.name), { how, validity });
    await kube.updateStatus<CertificateRequest>(certificateRequestResource, reply, { signal });
  }

  /** When it is due next: a time, or not before something changes. */
  async function attend(certificate: CertManagerCertificate, found: Secret | undefined): Promise<number> {
    const { name, uid = '', generation = 0, deletionTimestamp } = certificate.metadata;
    if (deletionTimestamp !== undefined) return Number.POSITIVE_INFINITY;
    const authority = await authorityOf(certificate.spec.issuerRef.name);
    if (conditionOf(certificate, 'Issuing')?.status !== 'True') {
      const ca = new X509Certificate(authority.certificate);
      const why = violation(certificate, found, { ca, asked: asked.get(uid), now: Date.now() });
      if (!why) return renewalOf(certificate, found);
      if (refused.has(`${uid}/${generation}`)) return Number.POSITIVE_INFINITY;
      await say(certificate, issuingStatus(certificate, why));
      return Number.POSITIVE_INFINITY;
    }
    const { kind, message } = mode.names.length === 0 || mode.names.includes(name) ? mode : issuing;
    switch (kind) {
      case 'hold':
        break;
      case 'fail':
        refused.add(`${uid}/${generation}`);
        await say(certificate, failedStatus(certificate, { reason: 'Failed', message }));
        break;
      case 'issue':
        await issue(certificate, found, authority);
        asked.set(uid, askedBy(certificate.spec));
        break;
      default:
        kind satisfies never;
    }
    // What was said comes back as a change.
    return Number.POSITIVE_INFINITY;
  }

  async function issue(certificate: CertManagerCertificate, found: Secret | undefined, authority: Authority) {
    const notBefore = new Date(Date.now() - backdated);
    const life = lifetime ?? parseDuration(certificate.spec.duration ?? '2160h');
    const validity = { notBefore, notAfter: new Date(notBefore.getTime() + life) };
    const leaf = await issueLeaf(planOf(certificate), authority, validity);
    const secret = secretOf(certificate, found, leafData(leaf, [authority.certificate]));
    if (found) await kube.update<Secret>(resources.secrets, secret, { signal });
    else await kube.create<Secret>(resources.secrets, secret, { signal });
    await say(certificate, issuedStatus(certificate, new X509Certificate(leaf.certificate)));
  }

  async function say(certificate: CertManagerCertificate, status: Status): Promise<void> {
    await kube.updateStatus<CertManagerCertificate>(certificateResource, { ...certificate, status }, { signal });
  }

  const watched = [certificateResource, certificateRequestResource, resources.secrets];
  const controller = startController({ kube, namespace, watched, attend: attendAll, signal });
  // The next wait reports the failure, at the latest the one for its end.
  controller.ended.catch(() => stop.abort());

  const change = (next: Mode) => {
    mode = next;
    controller.wake();
  };
  return {
    title: 'the built-in stand-in for cert-manager',
    hold: (...names) => change({ kind: 'hold', message: '', names }),
    fail: (message, ...names) => change({ kind: 'fail', message, names }),
    resume: () => {
      refused.clear();
      change(issuing);
    },
    renew: (name) => renewed({ kube, namespace, name, signal, ended: controller.ended }),
    async replaceAuthority(issuer) {
      const next = newAuthority(issuer);
      await next;
      authorities.set(issuer, next);
    },
    authority: async (issuer) => (await authorityOf(issuer)).certificate,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await controller.ended;
    },
  };
}

function newAuthority(issuer: string): Promise<Authority> {
  const notBefore = new Date(Date.now() - 3600e3);
  return createAuthority({ commonName: issuer, notBefore, notAfter: new Date(notBefore.getTime() + 10 * year) });
}

function renewalOf({ spec }: CertManagerCertificate, found: Secret | undefined): number {
  const leaf = readLeaf(found?.data?.['tls.crt'] ?? '');
  return leaf ? renewalTimeOf(leaf, spec.renewBefore) : Number.POSITIVE_INFINITY;
}
