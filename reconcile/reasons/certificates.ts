import { isWell, type Meaning, step } from './meaning.ts';

/** Certificates: steps, what they wait for, and what is wrong with certificates that others provide. */

const whichKey =
  'correct the key of the Secret that the message names ([runbook](docs/runbooks/certificates.md#a-secret-that-you-provide))';
const tlsFails =
  'the member is there, and TLS between it and etcd-ratchet fails: the message names both certificates and the defect ([runbook](docs/runbooks/certificates.md#a-handshake-fails))';
const whichSide =
  'correct what the message names: the key of a Secret, or the certificate that one side presented ([runbook](docs/runbooks/certificates.md#a-handshake-fails))';
const asksOthers =
  'nothing, while it is not Stalled: it goes on when cert-manager answers or the members have loaded a new CA ([runbook](docs/runbooks/certificates.md#cert-manager))';
const theIssuer =
  "the message names the issuer, the Certificate and cert-manager's own message; members keep their certificates ([runbook](docs/runbooks/certificates.md#cert-manager))";
const install =
  'install cert-manager; add the component that grants its `Certificate` resources ([runbook](docs/runbooks/certificates.md#cert-manager))';
const provided = (means: string): Meaning => ({ means, cure: whichKey });

/** Defects of a Secret: condition `CertificatesReady` has these reasons; a rule puts `Certificate` in front. */
const defects = {
  SecretMissing: provided('A Secret does not exist.'),
  KeysMissing: provided('A Secret lacks keys.'),
  Unreadable: provided('A key of a Secret cannot be parsed.'),
  KeyMismatch: provided('A private key does not match its certificate.'),
  WeakKey: provided('A key is too weak.'),
  UnsupportedKey: provided('etcd cannot use a key of this kind.'),
  MissingUsages: provided('A certificate lacks a key usage that it needs.'),
  MissingNames: provided('A certificate lacks names under which members are reached.'),
  WildcardPeerName: provided("A peer's certificate has a wildcard where etcd looks up the exact name."),
  HasCommonName: provided("A certificate for etcd's HTTP gateway has a common name, which the gateway refuses."),
  NotACertificateAuthority: provided('The certificate of a CA may not sign.'),
  NotYetValid: provided('A certificate is not valid yet.'),
  Expired: provided('A certificate has expired.'),
  ChainBroken: provided('A certificate is not signed by the CA beside it.'),
  AuthoritiesDisagree: provided('Secrets name different CAs where they must name the same one.'),
  Revoked: provided(
    'The spec revokes a certificate that etcd-ratchet, or a member, shows to members: their list leaves it out.',
  ),
  ExpiresSoon: provided('A certificate expires soon.'),
} as const satisfies Record<string, Meaning>;

type Refused = `Certificate${keyof typeof defects}`;

export const ofSecrets = Object.fromEntries(
  Object.entries(defects).map(([word, row]) => [`Certificate${word}`, row]),
) as Readonly<Record<Refused, Meaning>>;

export const certificates = {
  ...defects,
  ...ofSecrets,
  CertificateExpired: {
    means: 'A certificate in a Secret, or one that a side presented, has expired.',
    cure: whichSide,
  },
  CertificateNotYetValid: {
    means: 'A certificate in a Secret, or one that a side presented, is not valid yet.',
    cure: whichSide,
  },
  CertificateNamesRefused: {
    means: 'A cluster may not ask its issuer for a name of `spec.tls.dnsNames`.',
    cure: 'have the admin of the installation allow the names that the message lists for that issuer ([limit tenants](docs/how-to/limit-tenants.md#certificates)), or remove them from the spec; certificates that have them keep them until then',
  },
  WrongAuthority: { means: 'A certificate comes from a CA that the other side does not trust.', cure: tlsFails },
  NameMismatch: { means: "A member's certificate lacks the name under which it is reached.", cure: tlsFails },
  ClientCertificateRefused: { means: 'A member rejects the client certificate of etcd-ratchet.', cure: tlsFails },
  PlaintextOnTlsPort: { means: 'A member speaks plaintext where TLS is expected.', cure: tlsFails },
  TlsOnPlaintextPort: { means: 'A member speaks TLS where plaintext is expected.', cure: tlsFails },
  HandshakeFailed: { means: 'The TLS handshake with a member fails.', cure: tlsFails },
  AuthorityLost: {
    means: "The members' CA was lost: the members serve, and none can be restarted alone.",
    cure: 'delete all pods of the cluster at a time of your choice, with the command in the message: the cluster does not serve until most have started again ([runbook](docs/runbooks/certificates.md#the-ca-is-lost))',
  },
  SecretsUnreadable: {
    means: 'etcd-ratchet may not read the Secrets with the certificates.',
    cure: 'grant the rights on Secrets that `manifests/install` grants; steps that need no certificate continue meanwhile ([runbook](docs/runbooks/certificates.md#the-secrets-cant-be-read))',
  },
  AwaitingCertificates: { means: 'Certificates are requested, and do not exist yet.', cure: asksOthers },
  RotatingAuthorities: { means: 'Two CAs are trusted while the new one replaces the old one.', cure: asksOthers },
  CertManagerUnreachable: { means: "cert-manager's resources cannot be read at the moment.", cure: asksOthers },
  CertManagerNotInstalled: { means: "The API server does not serve cert-manager's resources.", cure: install },
  CertManagerForbidden: { means: "etcd-ratchet may not read or write cert-manager's resources.", cure: install },
  IssuanceFailed: { means: 'An issuer does not issue a certificate.', cure: theIssuer },
  RenewalFailed: { means: 'An issuer does not renew a certificate.', cure: theIssuer },
  CertManagerSilent: { means: 'cert-manager has not touched a Certificate for two minutes.', cure: theIssuer },
  MakingAuthorities: step('A CA is made, and the certificates that it signs.'),
  IssuingCertificates: step('Certificates are signed, or handed over to members that have none.'),
  RenewingCertificates: step('Certificates that are due are signed or handed over anew.'),
  RequestingCertificates: step('Certificates are requested from cert-manager.'),
  TrustingAuthorities: step('A further CA is added to what members trust.'),
  OverlapBegins: step('Every member presents a certificate of the new CA; the old one stays trusted for a while.'),
  RetiringAuthorities: step('An old CA is removed from what members trust.'),
  ReloadingAuthorities: step('A pod is recreated, because it has loaded only a CA that is no longer used.', 'rolls'),
  Served: {
    means: 'Every member presents its certificate (condition `CertificatesReady`).',
    cure: isWell,
  },
  Disabled: {
    means: 'The cluster has no TLS, as `spec.tls.mode` says (condition `CertificatesReady`).',
    cure: 'nothing, if plaintext is intended: everyone that reaches the pods can read and write all keys ([runbook](docs/runbooks/certificates.md#plaintext))',
  },
  NotRead: step('The certificates could not be read (condition `CertificatesReady`).'),
  Issuing: step('A Secret is not there yet (condition `CertificatesReady`).'),
  Requesting: step('No Certificate is requested from cert-manager yet (condition `CertificatesReady`).'),
  LoadingAuthorities: step('A member has not loaded the current CAs, or does not present its certificate, yet.'),
  RenewalDue: step('A certificate is due for renewal (condition `CertificatesReady`).'),
  Propagating: step('A member does not present its new certificate yet (condition `CertificatesReady`).'),
} as const satisfies Record<string, Meaning>;
