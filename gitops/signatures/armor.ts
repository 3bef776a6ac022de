import { invalid } from './refusal.ts';

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** OpenPGP's, which protects from nothing. */
const checksum = /^=[A-Za-z0-9+/]{4}$/;

/**
 * The bytes of the one block of that label, with nothing but white space around it, and without OpenPGP's headers.
 * @throws SignatureRefusal SignatureInvalid
 */
export function dearmor(text: string, label: string): Buffer {
  const lines = text
    .replaceAll('\r\n', '\n')
    .trim()
    .split('\n')
    .map((line) => line.trimEnd());
  const body = lines.slice(1, -1);
  const isWhole = lines[0] === `-----BEGIN ${label}-----` && lines.at(-1) === `-----END ${label}-----`;
  if (!isWhole || body.some((line) => line.startsWith('-----'))) throw invalid(`has no single block "${label}"`);
  const blank = body.indexOf('');
  const headers = body.slice(0, blank < 0 ? 0 : blank);
  if (headers.some((line) => !line.includes(':'))) throw invalid(`has a block "${label}" that can't be read`);
  const rest = body.slice(blank < 0 ? 0 : blank + 1);
  const data = (checksum.test(rest.at(-1) ?? '') ? rest.slice(0, -1) : rest).join('');
  if (!base64.test(data) || data.length % 4 !== 0) throw invalid(`has a block "${label}" that can't be read`);
  return Buffer.from(data, 'base64');
}
