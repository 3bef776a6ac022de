import { trimmed } from '../public-keys.ts';
import { invalid } from '../refusal.ts';

/** What SSH's formats are made of (RFC 4251, 5). @throws SignatureRefusal where they end early */
export interface SshReader {
  byte(): number;
  uint32(): number;
  string(): Buffer;
  text(): string;
  bytes(count: number): Buffer;
  isAtEnd(): boolean;
}

export function sshReader(data: Buffer): SshReader {
  let at = 0;

  function bytes(count: number): Buffer {
    if (at + count > data.length) throw invalid('has an SSH key or signature that is cut off');
    at += count;
    return data.subarray(at - count, at);
  }

  const uint32 = () => bytes(4).readUInt32BE();
  const string = () => bytes(uint32());
  return {
    bytes,
    uint32,
    string,
    byte: () => bytes(1).readUInt8(),
    text: () => string().toString('latin1'),
    isAtEnd: () => at === data.length,
  };
}

export function sshString(data: Buffer | string): Buffer {
  const bytes = Buffer.from(data as string, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** A positive number without the zeros before it. @throws SignatureRefusal for a negative one */
export function positive(mpint: Buffer): Buffer {
  if ((mpint[0] ?? 0) & 0x80) throw invalid('has a negative number in an SSH key or signature');
  return trimmed(mpint);
}
