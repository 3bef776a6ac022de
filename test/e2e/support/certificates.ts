import { createPrivateKey, generateKeyPair, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import type { Secret } from '../../../manifests/kube-types.ts';
import type { LeafPlan } from '../../../manifests/render/certificate-names.ts';
import { signCertificate } from '../../../reconcile/clients/x509.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { type Authority, createAuthority, issueLeaf, type Validity } from '../../../reconcile/x509/issue.ts';
import { writePem } from '../../../reconcile/x509/pem.ts';
import { type CertificateData, leafData } from '../../../reconcile/x509/secret-data.ts';

/** The certificates of somebody who brings their own, good ones and bad ones; and what wears out with time. */

export const day = 24 * 3600e3;

/** From and until, in milliseconds from now. */
export function span(from: number, until: number): Validity {
  const now = Date.now();
  return { notBefore: new Date(now + from), notAfter: new Date(now + until) };
}

export const good = () => span(-600e3, 90 * day);
/** Two thirds of its life are over. */
export const due = () => span(-10 * day, 3 * day);

export function newAuthority(commonName: string): Promise<Authority> {
  return createAuthority({ commonName, ...span(-600e3, 3650 * day) });
}

/** Signed by `root`: its leaves come with it as an intermediate, and whoever trusts the root only can verify them. */
export function intermediateOf(root: Authority, commonName: string): Promise<Authority> {
  return createAuthority({ commonName, previous: root, ...span(-300e3, 1000 * day) });
}

export interface LeafOptions {
  readonly validity?: Validity;
  /** What its holder trusts, instead of the CA that signed it. */
  readonly trust?: readonly string[];
}

export async function leafOf(
  plan: LeafPlan,
  authority: Authority,
  { validity = good(), trust = [authority.certificate] }: LeafOptions = {},
): Promise<CertificateData> {
  return leafData(await issueLeaf(plan, authority, validity), trust);
}

/** Of a size that was good enough twenty years ago. */
export async function weakLeafOf(plan: LeafPlan, authority: Authority): Promise<CertificateData> {
  const keys = await promisify(generateKeyPair)('rsa', { modulusLength: 1024 });
  const { commonName, dnsNames, ipAddresses, usages } = plan;
  const der = signCertificate({
    ...(commonName !== undefined && { commonName }),
    serialNumber: Uint8Array.of(0x4d),
    ...wholeSeconds(good()),
    publicKey: keys.publicKey,
    signingKey: createPrivateKey(authority.key),
    issuer: new X509Certificate(authority.certificate),
    profile: { kind: 'leaf', dnsNames, ipAddresses, usages },
  });
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return leafData({ certificate: writePem('CERTIFICATE', der), key }, [authority.certificate]);
}

function wholeSeconds({ notBefore, notAfter }: Validity): Validity {
  const cut = (time: Date) => new Date(Math.floor(time.getTime() / 1000) * 1000);
  return { notBefore: cut(notBefore), notAfter: cut(notAfter) };
}

/** As an editor on Windows saves it, with a word of explanation before and after. */
export function asNotes(base64: string): string {
  const pem = Buffer.from(base64, 'base64').toString('utf8');
  const text = `subject=/CN=see below\n\n${pem}\nissued for the platform team, ticket 4711\n`;
  return Buffer.from(text.replaceAll('\n', '\r\n')).toString('base64');
}

/** Puts a Secret there as a person would, replacing all that it held. */
export async function putSecret(
  { kube, namespace }: { readonly kube: Kube; readonly namespace: string },
  name: string,
  data: Readonly<Record<string, string>>,
): Promise<Secret> {
  const found = await kube.get<Secret>(resources.secrets, namespace, name);
  if (found) return kube.update<Secret>(resources.secrets, { ...found, data });
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'Opaque', data };
  return kube.create<Secret>(resources.secrets, secret);
}
