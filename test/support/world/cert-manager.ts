import { X509Certificate } from 'node:crypto';
import type { Secret } from '../../../manifests/kube-types.ts';
import {
  type CertManagerCertificate,
  certificateResource,
} from '../../../manifests/render/cert-manager-certificate.ts';
import { type CertificateRequest, certificateRequestResource } from '../../../manifests/render/cert-manager-request.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { type Authority, issueLeaf } from '../../../reconcile/x509/issue.ts';
import { leafData } from '../../../reconcile/x509/secret-data.ts';
import {
  askedBy,
  conditionOf,
  failedStatus,
  issuedStatus,
  issuingStatus,
  planOf,
  type Status,
  secretOf,
  violation,
} from '../../e2e/support/issuer-answers.ts';
import { type Answer, answered, rootAuthority } from '../../e2e/support/signed-requests.ts';
import type { World } from './world.ts';

/** cert-manager in the world: does one round of its work whenever it is told to. */
export interface CertManager {
  /** Looks at every Certificate once. */
  attend(): Promise<void>;
  /** What it does from now on with the Certificates of these names, or with all. */
  answer(how: 'issue' | 'hold' | 'fail', ...names: readonly string[]): void;
  /** What it does from now on with what CAs of clusters ask; `hold`: nothing. */
  answerRequests(how: Answer | 'hold'): void;
  /** As `cmctl renew`: the next round issues it anew. */
  renew(...names: readonly string[]): void;
  /** The next certificate begins so many milliseconds ago. */
  backdate(milliseconds: number): void;
  /** The next certificate of an issuer comes from another CA. */
  replaceAuthority(issuer: string): Promise<void>;
  authority(issuer: string): Promise<Authority>;
  /** The same one in a fork of its world; from now on each goes its own way. */
  fork(world: Place): CertManager;
}

type Place = Pick<World, 'kube' | 'now'>;

interface Mode {
  readonly how: 'issue' | 'hold' | 'fail';
  readonly names: readonly string[];
}

/** What a fork goes on from. */
interface Past {
  readonly authorities: ReadonlyMap<string, Authority>;
  readonly asked: ReadonlyMap<string, string>;
  readonly renewing: ReadonlySet<string>;
  readonly backdating: number;
  readonly mode: Mode;
  readonly requests: Answer | 'hold';
}

/** As many issuers do; cert-manager's own does not. Milliseconds. */
const backdated = 10 * 60_000;
const decade = 10 * 365 * 24 * 3600e3;

export function certManagerIn({ kube, now }: Place, past?: Past): CertManager {
  const authorities = new Map(past?.authorities);
  const asked = new Map(past?.asked);
  const renewing = new Set(past?.renewing);
  let backdating = past?.backdating ?? backdated;
  let requests = past?.requests ?? 'sign';
  let mode: Mode = past?.mode ?? { how: 'issue', names: [] };

  function newAuthority(issuer: string): Authority {
    // Whole seconds, as certificates have them.
    const notBefore = new Date(Math.floor((now() - backdated) / 1000) * 1000);
    const made = rootAuthority(issuer, { notBefore, notAfter: new Date(notBefore.getTime() + decade) });
    authorities.set(issuer, made);
    return made;
  }

  const authority = async (issuer: string) => authorities.get(issuer) ?? newAuthority(issuer);

  async function attendTo(certificate: CertManagerCertificate): Promise<void> {
    const { name, uid = '' } = certificate.metadata;
    const found = kube
      .stored<Secret>(resources.secrets)
      .find(({ metadata }) => metadata.name === certificate.spec.secretName);
    const signer = await authority(certificate.spec.issuerRef.name);
    const ca = new X509Certificate(signer.certificate);
    const due = renewing.has(name)
      ? { reason: 'ManuallyTriggered', message: 'Certificate re-issuance manually triggered' }
      : violation(certificate, found, { ca, asked: asked.get(uid), now: now() });
    if (!due) return;
    const how = mode.names.length === 0 || mode.names.includes(name) ? mode.how : 'issue';
    if (how === 'fail' && conditionOf(certificate, 'Issuing')?.status === 'False') return;
    if (how === 'hold' && conditionOf(certificate, 'Issuing')?.status === 'True') return;
    if (how === 'hold') return say(certificate, issuingStatus(certificate, due));
    if (how === 'fail') return say(certificate, failedStatus(certificate, { reason: 'Failed', message: 'no budget' }));
    const notBefore = new Date(now() - backdating);
    const life = Number.parseInt(certificate.spec.duration ?? '2160', 10) * 3600e3;
    const validity = { notBefore, notAfter: new Date(notBefore.getTime() + life) };
    const leaf = await issueLeaf(planOf(certificate), signer, validity);
    kube.seed<Secret>(resources.secrets, secretOf(certificate, found, leafData(leaf, [signer.certificate])));
    asked.set(uid, askedBy(certificate.spec));
    renewing.delete(name);
    say(certificate, issuedStatus(certificate, new X509Certificate(leaf.certificate)));
  }

  async function attendToRequest(request: CertificateRequest): Promise<void> {
    if (request.status !== undefined || requests === 'hold') return;
    const notBefore = new Date(Math.floor((now() - backdating) / 1000) * 1000);
    const life = Number.parseInt(request.spec.duration ?? '2160', 10) * 3600e3;
    const validity = { notBefore, notAfter: new Date(notBefore.getTime() + life) };
    const signer = await authority(request.spec.issuerRef.name);
    const reply = answered(request, signer, { how: requests, validity });
    kube.seed<CertificateRequest>(certificateRequestResource, reply);
  }

  function say(certificate: CertManagerCertificate, status: Status): void {
    kube.seed<CertManagerCertificate>(certificateResource, { ...certificate, status });
  }

  return {
    attend: async () => {
      for (const one of kube.stored<CertManagerCertificate>(certificateResource)) await attendTo(one);
      for (const one of kube.stored<CertificateRequest>(certificateRequestResource)) await attendToRequest(one);
    },
    answerRequests: (how) => {
      requests = how;
    },
    answer: (how, ...names) => {
      mode = { how, names };
    },
    backdate: (milliseconds) => {
      backdating = milliseconds;
    },
    renew: (...names) => {
      for (const one of names) renewing.add(one);
    },
    replaceAuthority: async (issuer) => {
      newAuthority(issuer);
    },
    authority,
    fork: (world) => certManagerIn(world, { authorities, asked, renewing, backdating, mode, requests }),
  };
}
