/** The few things that the engine needs of a certificate and Node does not tell. */

interface Element {
  readonly tag: number;
  readonly body: Uint8Array;
}

const tags = { integer: 0x02, octets: 0x04, keyId: 0x80, version: 0xa0, extensions: 0xa3 } as const;
const strings = { utf8: 0x0c, numeric: 0x12, printable: 0x13, t61: 0x14, ia5: 0x16, bmp: 0x1e } as const;
/** Of id-ce, 2.5.29, as object identifiers are encoded. */
const extensions = { subjectKeyId: '551d0e', basicConstraints: '551d13', authorityKeyId: '551d23' } as const;
/** id-at-commonName, 2.5.4.3. */
const commonName = '550403';

/**
 * How many CAs may stand between this CA and a leaf (RFC 5280, 4.2.1.9); `undefined`: no bound. For DER that OpenSSL
 * has accepted; it throws for no input.
 */
export function pathLengthOf(der: Uint8Array): number | undefined {
  const value = extensionsOf(der).get(extensions.basicConstraints);
  const bound = elementsOf(value?.body).find(({ tag }) => tag === tags.integer)?.body;
  return bound === undefined || bound.length === 0 ? undefined : bound.reduce((sum, byte) => sum * 256 + byte, 0);
}

/** What it calls its own key and that of its issuer (RFC 5280, 4.2.1.1 and 4.2.1.2), as far as it does: hex. */
export function keyIdsOf(der: Uint8Array): { readonly keyId?: string; readonly issuerKeyId?: string } {
  const all = extensionsOf(der);
  const own = all.get(extensions.subjectKeyId);
  const issuer = elementsOf(all.get(extensions.authorityKeyId)?.body).find(({ tag }) => tag === tags.keyId);
  return { ...(own && { keyId: hexOf(own.body) }), ...(issuer && { issuerKeyId: hexOf(issuer.body) }) };
}

/** By identifier, in hex. Before the value, an octet string, there may be `critical`. */
function extensionsOf(der: Uint8Array): ReadonlyMap<string, Element> {
  const [list] = elementsOf(signedPart(der).find(({ tag }) => tag === tags.extensions)?.body);
  const found = new Map<string, Element>();
  for (const { body } of elementsOf(list?.body)) {
    const [oid, ...rest] = elementsOf(body);
    const [value] = elementsOf(rest.find(({ tag }) => tag === tags.octets)?.body);
    // The first one counts, as where we sign.
    if (oid && value && !found.has(hexOf(oid.body))) found.set(hexOf(oid.body), value);
  }
  return found;
}

/**
 * The last common name of the subject, as Go and etcd's authentication read it; none of a string type that Go does not
 * know. OpenSSL tells it only with all else of a certificate, which takes three times as long.
 */
export function commonNameOf(der: Uint8Array): string | undefined {
  const names = elementsOf(namesIn(der).subject?.body)
    .flatMap(({ body }) => elementsOf(body))
    .flatMap(({ body }) => {
      const [oid, value] = elementsOf(body);
      return oid !== undefined && value !== undefined && hexOf(oid.body) === commonName ? [value] : [];
    });
  const last = names.at(-1);
  return last && textOf(last);
}

/** Issuer and subject, byte for byte: that is how Go finds an issuer, while OpenSSL is content with equal letters. */
export function rawNamesOf(der: Uint8Array): { readonly issuer: string; readonly subject: string } {
  const { issuer, subject } = namesIn(der);
  return { issuer: hexOf(issuer?.body), subject: hexOf(subject?.body) };
}

function namesIn(der: Uint8Array): { readonly issuer: Element | undefined; readonly subject: Element | undefined } {
  const [, , issuer, , subject] = signedPart(der).filter(({ tag }) => tag !== tags.version);
  return { issuer, subject };
}

function textOf({ tag, body }: Element): string | undefined {
  const bytes = Buffer.from(body);
  switch (tag) {
    case strings.utf8:
    case strings.numeric:
    case strings.printable:
    case strings.ia5:
      return bytes.toString('utf8');
    case strings.t61:
      return bytes.toString('latin1');
    case strings.bmp:
      return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : undefined;
    default:
      return undefined;
  }
}

/** The fields of TBSCertificate. */
function signedPart(der: Uint8Array): readonly Element[] {
  const [certificate] = elementsOf(der);
  const [signed] = elementsOf(certificate?.body);
  return elementsOf(signed?.body);
}

function hexOf(bytes: Uint8Array = new Uint8Array()): string {
  return Buffer.from(bytes).toString('hex');
}

/** The elements that lie side by side; what does not fit ends the list. */
function elementsOf(bytes: Uint8Array = new Uint8Array()): readonly Element[] {
  const found: Element[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1] ?? 0;
    // A length of up to 127 stands for itself; above, the low bits count the bytes of the length.
    const wide = first < 0x80 ? 0 : first & 0x7f;
    if (wide > 4) return found;
    const start = at + 2 + wide;
    const length = wide === 0 ? first : bytes.subarray(at + 2, start).reduce((sum, byte) => sum * 256 + byte, 0);
    if (start + length > bytes.length) return found;
    found.push({ tag, body: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}
