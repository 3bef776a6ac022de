import Type from 'typebox';
import { dnsLabel, durationBetween, objectName } from './common-rules.ts';
import { isIPv4, ownNamesDomain } from './dns-names.ts';
import { longestDurationText } from './duration.ts';
import { celEscape, matching, rule } from './rule.ts';
import { keepsDefault, list, object, text } from './schema.ts';
import { certManagerDefaults, issuerDefaults, tlsDefaults } from './spec-defaults.ts';

/** How a cluster's connections are encrypted, and who signs for whom. */

export const tlsModes = ['Managed', 'CertManager', 'Provided', 'Disabled'] as const;
const peerSourceAddresses = ['Verified', 'Any'] as const;
const allowedNames = ['Any', 'Own'] as const;
export type TlsMode = (typeof tlsModes)[number];

function secretName(description: string) {
  return text(253, { description, rules: [objectName] });
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
  readonly managed?: unknown;
  readonly certManager?: unknown;
  readonly provided?: unknown;
}

const managedGoesWithMode = rule<Given>({
  message: 'managed goes with mode Managed, and with no other',
  cel: `!has(self.managed) || !has(self.mode) || self.mode == 'Managed'`,
  holds: ({ mode = tlsDefaults.mode, managed }) => managed === undefined || mode === 'Managed',
  fieldPath: '.managed',
});

const issuerIfCertManager = rule<Given>({
  message: 'certManager names the issuer: it is required with mode CertManager, and goes with no other mode',
  cel: `(has(self.mode) && self.mode == 'CertManager') == has(self.certManager)`,
  holds: ({ mode, certManager }) => (mode === 'CertManager') === (certManager !== undefined),
  fieldPath: '.certManager',
});

const secretsIfProvided = rule<Given>({
  message: 'provided names your Secrets: it is required with mode Provided, and goes with no other mode',
  cel: `(has(self.mode) && self.mode == 'Provided') == has(self.provided)`,
  holds: ({ mode, provided }) => (mode === 'Provided') === (provided !== undefined),
  fieldPath: '.provided',
});

/** Without the check of addresses, a client's certificate of the same issuer would do as a member's. */
const anyNeedsPeerIssuer = rule<{
  readonly peerSourceAddress?: string;
  readonly certManager?: { readonly peerIssuerRef?: unknown; readonly allowedNames?: string };
}>({
  message:
    'peerSourceAddress Any needs certManager.peerIssuerRef, or allowedNames Own: else the certificate of any client would be let in as that of a member',
  cel: `!has(self.peerSourceAddress) || self.peerSourceAddress != 'Any' || !has(self.certManager) || has(self.certManager.peerIssuerRef) || (has(self.certManager.allowedNames) && self.certManager.allowedNames == 'Own')`,
  holds: ({ peerSourceAddress, certManager }) =>
    peerSourceAddress !== 'Any' ||
    certManager === undefined ||
    certManager.peerIssuerRef !== undefined ||
    certManager.allowedNames === 'Own',
  fieldPath: '.peerSourceAddress',
});

const dnsName = `^([*][.])?${dnsLabel.slice(1, -1)}([.]${dnsLabel.slice(1, -1)})*$`;

/** An IPv4 address looks like a DNS name. Refuse IPv4-mapped IPv6 addresses: certificates can't hold them. */
const nameOrAddress = rule<string>({
  message: 'must be a DNS name, whose first label may be *, or an IP address',
  cel: `self.contains(':') ? isIP(self) : self.matches('${celEscape(dnsName)}')`,
  holds: (value) => (value.includes(':') ? isIPv6(value) : new RegExp(dnsName, 'u').test(value)),
});

export function isIPv6(value: string): boolean {
  const canonical = /^[0-9a-f:.]+$/i.test(value) ? URL.parse(`http://[${value}]`)?.hostname : undefined;
  return canonical !== undefined && !/^\[::ffff:[0-9a-f]+:[0-9a-f]+\]$/.test(canonical);
}

const notReserved = rule<string>({
  message: `must not be below ${ownNamesDomain}: such names let certificates into the one cluster that they name`,
  cel: `!self.endsWith('.${ownNamesDomain}')`,
  holds: (value) => !value.endsWith(`.${ownNamesDomain}`),
});

/** etcd takes what looks like an address for one, and compares a wildcard letter by letter. */
const clientName = rule<string>({
  message: 'must be a DNS name, without a wildcard',
  cel: `!self.startsWith('*') && !isIP(self) && self.matches('${celEscape(dnsName)}')`,
  holds: (value) => !value.startsWith('*') && !isIPv4(value) && new RegExp(dnsName, 'u').test(value),
});

/**
 * The leaves of each member bear the names of its Service, down to the bare one, and those of other tenants are clients
 * as well: a cluster `billing` of theirs in a namespace `com` has `billing.com`.
 */
const noServicesName = rule<string>({
  message: 'must have three labels or more, and not end in .svc or .cluster.local: servers have such names',
  cel: `self.matches('^[^.]+[.][^.]+[.][^.]') && !self.endsWith('.svc') && !self.endsWith('.cluster.local')`,
  holds: (value) => /^[^.]+[.][^.]+[.][^.]/.test(value) && !value.endsWith('.svc') && !value.endsWith('.cluster.local'),
});

/** Else a list that protects nothing would look as if it did. */
const clientNamesNeedOwn = rule<{ readonly allowedNames?: string; readonly clientNames?: unknown }>({
  message: 'clientNames go with allowedNames Own: with Any members let in every certificate of the issuer',
  cel: `!has(self.clientNames) || (has(self.allowedNames) && self.allowedNames == 'Own')`,
  holds: ({ allowedNames, clientNames }) => clientNames === undefined || allowedNames === 'Own',
  fieldPath: '.clientNames',
});

const gatewayClientIsIssued = rule<Given & { readonly gatewayClient?: string }>({
  message:
    'gatewayClient Enabled goes with modes Managed and CertManager: with the others etcd-ratchet makes no certificates for applications',
  cel: `!has(self.gatewayClient) || self.gatewayClient != 'Enabled' || !has(self.mode) || self.mode in ['Managed', 'CertManager']`,
  holds: ({ mode = tlsDefaults.mode, gatewayClient }) =>
    gatewayClient !== 'Enabled' || mode === 'Managed' || mode === 'CertManager',
  fieldPath: '.gatewayClient',
});

const gatewayClientNeedsAny = rule<{
  readonly gatewayClient?: string;
  readonly certManager?: { readonly allowedNames?: string };
}>({
  message: "gatewayClient Enabled does not go with certManager.allowedNames Own: etcd's HTTP gateway is off then",
  cel: `!has(self.gatewayClient) || self.gatewayClient != 'Enabled' || !has(self.certManager) || !has(self.certManager.allowedNames) || self.certManager.allowedNames != 'Own'`,
  holds: ({ gatewayClient, certManager }) => gatewayClient !== 'Enabled' || certManager?.allowedNames !== 'Own',
  fieldPath: '.gatewayClient',
});

/** Hexadecimal, with or without colons, as OpenSSL prints it: at most 20 octets (RFC 5280, 4.1.2.2). */
const serialNumber = matching(
  '^[0-9A-Fa-f]{1,2}(:?[0-9A-Fa-f]{2}){0,19}$',
  'must be a serial number like 4F:0A:91, in hexadecimal',
);

/** Else a list that protects nothing would look as if it did. */
const revokesWithTls = rule<Given & { readonly revokedClientSerials?: unknown }>({
  message: 'revokedClientSerials needs certificates: with mode Disabled clients show none',
  cel: `!has(self.revokedClientSerials) || !has(self.mode) || self.mode != 'Disabled'`,
  holds: ({ mode, revokedClientSerials }) => revokedClientSerials === undefined || mode !== 'Disabled',
  fieldPath: '.revokedClientSerials',
});

export const tlsSchema = object(
  {
    mode: Type.Optional(
      Type.Enum(tlsModes, {
        default: tlsDefaults.mode,
        keepsDefault,
        description:
          'Managed: etcd-ratchet makes and renews everything. CertManager: your issuer signs. Provided: your Secrets. Disabled: plaintext.',
      }),
    ),
    dnsNames: Type.Optional(
      list(
        text(253, {
          minLength: 1,
          rules: [nameOrAddress, notReserved],
        }),
        16,
        { description: 'Further names, or IP addresses, by which clients reach the members.' },
      ),
    ),
    certificateLifetime: Type.Optional(
      text(longestDurationText, {
        default: tlsDefaults.certificateLifetime,
        description: 'With Managed and CertManager: the lifetime of each leaf. It is renewed after two thirds of that.',
        rules: [durationBetween('1h', '87600h')],
      }),
    ),
    rotationOverlap: Type.Optional(
      text(longestDurationText, {
        default: tlsDefaults.rotationOverlap,
        description: 'How long the old CA stays trusted after every member serves a leaf of the new one.',
        rules: [durationBetween('1s', '168h')],
      }),
    ),
    peerSourceAddress: Type.Optional(
      Type.Enum(peerSourceAddresses, {
        description:
          "Verified (where it is left out): a member takes connections of another one only from an address of the names in that one's certificate. Any: from every address, for networks that rewrite it (SNAT); then each certificate of the peer CA is let in.",
      }),
    ),
    revokedClientSerials: Type.Optional(
      list(text(59, { minLength: 1, rules: [serialNumber] }), 1000, {
        description:
          'Serial numbers of certificates that members refuse as those of clients, of any CA. A changed list takes effect with the next connection, once kubelet has it, and restarts nothing. Where it is new, even if empty, members restart once, one at a time.',
      }),
    ),
    gatewayClient: Type.Optional(
      Type.Enum(['Enabled', 'Disabled'], {
        description:
          "Enabled: beside the Secret <name>-client-tls there is <name>-gateway-tls, a client certificate without a common name, which etcd's HTTP gateway (/v3/…) demands once etcd's authentication is on. Disabled (where it is left out): there is none. With Managed and CertManager; restarts nothing.",
      }),
    ),
    managed: Type.Optional(
      object(
        {
          authorityLifetime: Type.Optional(
            text(longestDurationText, {
              default: tlsDefaults.authorityLifetime,
              description: 'The lifetime of each CA that etcd-ratchet makes. It is rotated after two thirds of that.',
              rules: [durationBetween('24h', '876000h')],
            }),
          ),
          issuerRef: Type.Optional(
            object(issuerSchema.properties, {
              description:
                "An issuer of cert-manager that signs the cluster's client CA as well, so that clients who trust that issuer's CA can verify members. Members trust only the cluster's own CAs. The installation must let that issuer sign CAs.",
            }),
          ),
        },
        { description: 'Of mode Managed.' },
      ),
    ),
    certManager: Type.Optional(
      object(
        {
          issuerRef: object(issuerSchema.properties, { description: 'The issuer of all certificates.' }),
          peerIssuerRef: Type.Optional(
            object(issuerSchema.properties, {
              description:
                'Another issuer for certificates between members, so that a client certificate is not enough to join as a member.',
            }),
          ),
          allowedNames: Type.Optional(
            Type.Enum(allowedNames, {
              default: certManagerDefaults.allowedNames,
              description: `Any: members let in every certificate of the issuer. Own, which is for life and, after the birth, takes an approval: only those with a DNS name that is the cluster's alone, below ${ownNamesDomain}, and clients with one of clientNames; etcd's HTTP gateway is off then.`,
            }),
          ),
          clientNames: Type.Optional(
            list(text(253, { minLength: 1, rules: [clientName, noServicesName, notReserved] }), 16, {
              description:
                'With allowedNames Own: DNS names of certificates that are let in as those of clients, beside the one for applications. Members restart for a changed list, one at a time.',
            }),
          ),
        },
        { description: 'Of mode CertManager.', rules: [clientNamesNeedOwn] },
      ),
    ),
    provided: Type.Optional(
      object(
        {
          peerSecretName: secretName('Members among themselves: tls.crt, tls.key, ca.crt.'),
          serverSecretName: secretName('What members show to clients: tls.crt, tls.key, ca.crt.'),
          clientSecretName: secretName('What etcd-ratchet shows to members: tls.crt, tls.key, ca.crt.'),
        },
        { description: 'Of mode Provided: Secrets of your own.' },
      ),
    ),
  },
  {
    default: {},
    keepsDefault,
    description: 'Decided at birth: peer URLs carry the scheme.',
    rules: [
      managedGoesWithMode,
      issuerIfCertManager,
      secretsIfProvided,
      anyNeedsPeerIssuer,
      revokesWithTls,
      gatewayClientIsIssued,
      gatewayClientNeedsAny,
    ],
  },
);

/** The part of it that one member runs with. */
export const peerTlsSchema = object(
  {
    mode: Type.Enum(tlsModes, { description: "As the cluster's spec.tls.mode." }),
    peerSourceAddress: Type.Optional(
      Type.Enum(peerSourceAddresses, {
        description: "As the cluster's spec.tls.peerSourceAddress, where that is Any.",
      }),
    ),
    revocations: Type.Optional(
      Type.Enum(['Listed'], {
        description: "Listed, where the cluster's spec.tls.revokedClientSerials is there: it reads them from a file.",
      }),
    ),
    allowedNames: Type.Optional(
      Type.Enum(['Own', 'Taken'], {
        description:
          'Where it lets in names only. Own: since the birth of its cluster. Taken: since a person approved it.',
      }),
    ),
    clientNames: Type.Optional(
      list(text(253), 16, { description: "As the cluster's spec.tls.certManager.clientNames, sorted." }),
    ),
    trust: Type.Optional(
      text(64, { description: 'The CAs that it must have loaded, as one word: etcd reads them only at its start.' }),
    ),
  },
  { description: 'What its certificates are made from.' },
);
