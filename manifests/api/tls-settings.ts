import Type from 'typebox';
import { dnsLabel, durationBetween, objectName } from './common-rules.ts';
import { longestDurationText } from './duration.ts';
import { celEscape, rule } from './rule.ts';
import { list, object, text } from './schema.ts';
import { issuerDefaults } from './spec-defaults.ts';
import { tlsDefaults } from './tls-defaults.ts';

/** How a cluster's connections are encrypted, and who signs for whom. */

export const tlsModes = ['Managed', 'CertManager', 'Provided', 'Disabled'] as const;
export type TlsMode = (typeof tlsModes)[number];

function secretName(description: string) {
  return Type.Optional(text(253, { description, rules: [objectName] }));
}

const issuerSchema = object({
  name: text(253, { minLength: 1, description: "The issuer's name.", rules: [objectName] }),
  kind: Type.Optional(
    text(63, { default: issuerDefaults.kind, description: 'Issuer, ClusterIssuer, or a kind of another group.' }),
  ),
  group: Type.Optional(text(253, { default: issuerDefaults.group, description: 'The API group of its kind.' })),
});

interface Given {
  readonly mode?: TlsMode;
  readonly issuerRef?: unknown;
  readonly peerIssuerRef?: unknown;
  readonly peerSecretName?: string;
  readonly serverSecretName?: string;
  readonly clientSecretName?: string;
}

const secretNames = ['peerSecretName', 'serverSecretName', 'clientSecretName'] as const;
const allNames = secretNames.map((name) => `has(self.${name})`).join(' && ');
const anyName = secretNames.map((name) => `has(self.${name})`).join(' || ');

const issuerIfCertManager = rule<Given>({
  message: 'issuerRef names the cert-manager issuer: it is required with mode CertManager, and goes with no other mode',
  cel: `has(self.mode) && self.mode == 'CertManager' ? has(self.issuerRef) : !has(self.issuerRef) && !has(self.peerIssuerRef)`,
  holds: ({ mode, issuerRef, peerIssuerRef }) =>
    mode === 'CertManager' ? issuerRef !== undefined : issuerRef === undefined && peerIssuerRef === undefined,
  fieldPath: '.issuerRef',
});

const secretsIfProvided = rule<Given>({
  message:
    'peerSecretName, serverSecretName and clientSecretName name your Secrets: all three are required with mode Provided, and go with no other mode',
  cel: `has(self.mode) && self.mode == 'Provided' ? ${allNames} : !(${anyName})`,
  holds: (given) =>
    given.mode === 'Provided'
      ? secretNames.every((name) => given[name] !== undefined)
      : secretNames.every((name) => given[name] === undefined),
  fieldPath: '.mode',
});

const dnsName = `^([*][.])?${dnsLabel.slice(1, -1)}([.]${dnsLabel.slice(1, -1)})*$`;

/**
 * An address of IPv4 looks like a DNS name. One of IPv4 written as IPv6 is refused: certificates and the API server
 * have no such.
 */
const nameOrAddress = rule<string>({
  message: 'must be a DNS name, whose first label may be *, or an IP address',
  cel: `self.contains(':') ? isIP(self) : self.matches('${celEscape(dnsName)}')`,
  holds: (value) => (value.includes(':') ? isIPv6(value) : new RegExp(dnsName, 'u').test(value)),
});

export function isIPv6(value: string): boolean {
  const canonical = /^[0-9a-f:.]+$/i.test(value) ? URL.parse(`http://[${value}]`)?.hostname : undefined;
  return canonical !== undefined && !/^\[::ffff:[0-9a-f]+:[0-9a-f]+\]$/.test(canonical);
}

export const tlsSchema = object(
  {
    mode: Type.Optional(
      Type.Enum(tlsModes, {
        default: tlsDefaults.mode,
        description:
          'Managed: etcd-ratchet makes and renews everything. CertManager: issuerRef signs. Provided: your Secrets. Disabled: plaintext.',
      }),
    ),
    dnsNames: Type.Optional(
      list(
        text(253, {
          minLength: 1,
          rules: [nameOrAddress],
        }),
        16,
        { description: 'Further names, or IP addresses, by which clients reach the members.' },
      ),
    ),
    certificateLifetime: Type.Optional(
      text(longestDurationText, {
        default: tlsDefaults.certificateLifetime,
        description: 'The lifetime of each leaf. It is renewed after two thirds of that.',
        rules: [durationBetween('1h', '87600h')],
      }),
    ),
    authorityLifetime: Type.Optional(
      text(longestDurationText, {
        default: tlsDefaults.authorityLifetime,
        description: 'The lifetime of each CA that etcd-ratchet makes. It is rotated after two thirds of that.',
        rules: [durationBetween('24h', '876000h')],
      }),
    ),
    rotationOverlap: Type.Optional(
      text(longestDurationText, {
        default: tlsDefaults.rotationOverlap,
        description: 'How long the old CA stays trusted after every member serves a leaf of the new one.',
        rules: [durationBetween('1s', '168h')],
      }),
    ),
    issuerRef: Type.Optional(
      object(issuerSchema.properties, { description: 'With CertManager: the issuer of all certificates.' }),
    ),
    peerIssuerRef: Type.Optional(
      object(issuerSchema.properties, {
        description:
          'Another issuer for certificates between members, so that a client certificate is not enough to join as a member.',
      }),
    ),
    peerSecretName: secretName('Members among themselves: tls.crt, tls.key, ca.crt.'),
    serverSecretName: secretName('What members show to clients: tls.crt, tls.key, ca.crt.'),
    clientSecretName: secretName('What etcd-ratchet shows to members: tls.crt, tls.key, ca.crt.'),
  },
  {
    default: {},
    description: 'Decided at birth: peer URLs carry the scheme.',
    rules: [issuerIfCertManager, secretsIfProvided],
  },
);

/** The part of it that one member runs with. */
export const peerTlsSchema = object(
  {
    mode: Type.Enum(tlsModes, { description: "As the cluster's spec.tls.mode." }),
    trust: Type.Optional(
      text(64, { description: 'The CAs that it must have loaded, as one word: etcd reads them only at its start.' }),
    ),
  },
  { description: 'What its certificates are made from.' },
);
