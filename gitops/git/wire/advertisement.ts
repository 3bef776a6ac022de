import { GitError } from '../error.ts';
import { packets, packetText } from './pktline.ts';

/**
 * What a server says about its refs, by full name. An annotated tag is under its name and, as `^{}`, peeled to its
 * commit.
 */
export interface Advertisement {
  readonly refs: ReadonlyMap<string, string>;
  readonly capabilities: readonly string[];
}

/**
 * Reads the answer to `GET <url>/info/refs?service=git-upload-pack`.
 *
 * Protocol version 0, which every server speaks, because it lists the refs in this one answer; version 2 would need a
 * second request.
 *
 * @throws GitError BadAnswer
 */
export function parseAdvertisement(body: Buffer): Advertisement {
  const refs = new Map<string, string>();
  let capabilities: string[] = [];
  for (const packet of packets(body)) {
    if (packet.kind !== 'data') continue;
    const line = packetText(packet.data);
    if (line.startsWith('# service=')) continue;
    if (line.startsWith('ERR ')) throw new GitError('BadAnswer', `the server refused: ${printable(line.slice(4))}`);

    const [ref = '', listed] = line.split('\0');
    if (listed !== undefined) capabilities = listed.trim().split(' ');
    const format = capabilities.find((capability) => capability.startsWith('object-format='));
    if (format && format !== 'object-format=sha1') {
      throw new GitError(
        'BadAnswer',
        `the repository uses ${format.slice(14)} object names; only SHA-1 repositories are supported`,
      );
    }
    const match = /^(?<sha>[0-9a-f]{40}) (?<name>.+)$/.exec(ref);
    const { sha, name } = match?.groups ?? {};
    if (sha === undefined || name === undefined) {
      throw new GitError('BadAnswer', `the server's list of refs cannot be read: ${printable(line)}`);
    }
    // An empty repository still says what it can do, on a ref that is none.
    if (name !== 'capabilities^{}') refs.set(name, sha);
  }
  return { refs, capabilities };
}

/** A server's own words, cut and cleaned, because they end in conditions and logs. */
export function printable(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 200);
}
