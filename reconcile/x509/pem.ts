/** PEM as etcd reads it, and no wider: what is accepted here must be accepted by every member. */

/** A Secret holds at most 1 MiB; nothing that belongs into one of its keys comes near this. */
export const maxPemBytes = 256 * 1024;

export interface PemBlock {
  readonly label: string;
  readonly der: Uint8Array;
}

/** The problem never quotes the text, which may hold a private key. */
export type PemReading =
  | { readonly kind: 'blocks'; readonly blocks: readonly PemBlock[] }
  | { readonly kind: 'problem'; readonly problem: string };

const begin = /^-----BEGIN ([A-Z0-9 ]{1,64})-----[ \t]*$/;
const end = /^-----END ([A-Z0-9 ]{1,64})-----[ \t]*$/;
const base64Line = /^[A-Za-z0-9+/]*={0,2}[ \t]*$/;

/**
 * Every block of a text. CRLF and text around blocks are fine. Blocks that Go's pem.Decode silently skips (cut off,
 * indented or not base64) are a problem: etcd would go on without that certificate, and say nothing.
 */
export function readPem(text: string): PemReading {
  if (text.length > maxPemBytes) return problem(`is larger than ${maxPemBytes / 1024} KiB`);
  if (text.startsWith('\uFEFF'))
    return problem('starts with a byte order mark, at which etcd stumbles: save it without');
  const blocks: PemBlock[] = [];
  let open: { readonly label: string; readonly lines: string[] } | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (open === undefined) {
      const label = begin.exec(line)?.[1];
      if (label !== undefined) open = { label, lines: [] };
      else if (line.includes('-----BEGIN'))
        return problem('has a BEGIN line that is indented or has other text beside it');
      else if (line.includes('-----END')) return problem('has an END line without a BEGIN line');
      continue;
    }
    if (end.exec(line)?.[1] === open.label) {
      const der = decodeBase64(open.lines.join(''));
      if (der === undefined || der.length === 0) return problem('has a block that is not base64');
      blocks.push({ label: open.label, der });
      open = undefined;
    } else if (/^(Proc-Type|DEK-Info):/.test(line)) {
      return problem('is encrypted with a passphrase, which etcd cannot ask for: store it decrypted');
    } else if (!base64Line.test(line)) {
      return problem('has a block that is cut off or damaged');
    } else {
      open.lines.push(line.trimEnd());
    }
  }
  if (open !== undefined) return problem('ends in the middle of a block: it was not written whole');
  return { kind: 'blocks', blocks };
}

export function writePem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** Strictly: Buffer skips over whatever is not base64. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

function problem(words: string): PemReading {
  return { kind: 'problem', problem: words };
}
