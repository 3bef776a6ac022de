import { GitError } from '../error.ts';
import { type Packet, type PacketReader, packetReader, packetText } from './pktline.ts';

/** A server's refs by full name. An annotated tag is under its name and, as `^{}`, peeled to its commit. */
export interface Advertisement {
  readonly refs: ReadonlyMap<string, string>;
  readonly capabilities: readonly string[];
}

/** In version 2 a server lists no refs, and one capability a line. */
export interface ReadAdvertisement extends Advertisement {
  readonly version: 0 | 2;
}

export interface AdvertisementReader extends PacketReader {
  /** @throws GitError BadAnswer */
  end(): void;
  readonly found: ReadAdvertisement;
}

/** Branches that are remembered beside those that are looked for: for a hint. */
const mostHints = 100;
const mostCapabilities = 100;

/**
 * Reads the answer to `GET <url>/info/refs?service=git-upload-pack` while it arrives, in either protocol version. In
 * version 0 it lists all refs at once. A server may have a million: only those that are sought are kept.
 * @param isSought by full name, without `^{}`; all if absent
 */
export function advertisementReader(isSought: (name: string) => boolean = () => true): AdvertisementReader {
  const refs = new Map<string, string>();
  const capabilities: string[] = [];
  let version: 0 | 2 = 0;
  let hints = 0;

  function onPacket(packet: Packet): void {
    if (packet.kind !== 'data') return;
    const line = packetText(packet.data);
    if (line.startsWith('# service=')) return;
    if (line.startsWith('ERR '))
      throw new GitError('BadAnswer', 'the Git server refuses to list its refs: check the url and the credentials');
    if (line === 'version 2' && refs.size === 0) version = 2;
    else if (version === 2) learn([line, ...capabilities]);
    else read(line);
  }

  function read(line: string): void {
    const [ref = '', listed] = line.split('\0');
    if (listed !== undefined) learn(listed.trim().split(' '));
    const sha = ref.slice(0, 40);
    const name = ref.slice(41);
    if (!/^[0-9a-f]{40}$/.test(sha) || ref[40] !== ' ' || name === '') {
      throw new GitError('BadAnswer', "the server's list of refs cannot be read");
    }
    // An empty repository still says what it can do, on a ref that is none.
    if (name === 'capabilities^{}') return;
    const isHint = !isSought(name.replace(/\^\{\}$/, ''));
    if (isHint && ++hints > mostHints) return;
    refs.set(name, sha);
  }

  function learn(listed: readonly string[]): void {
    capabilities.splice(0, Infinity, ...listed.slice(0, mostCapabilities));
    const format = capabilities.find((capability) => capability.startsWith('object-format='));
    if (!format || format === 'object-format=sha1') return;
    throw new GitError(
      'BadAnswer',
      `the repository uses ${format.slice(14)} object names; only SHA-1 repositories are supported`,
    );
  }

  return {
    ...packetReader(onPacket),
    found: {
      refs,
      capabilities,
      get version() {
        return version;
      },
    },
  };
}

/** The whole answer at once. @throws GitError BadAnswer */
export function parseAdvertisement(body: Buffer): ReadAdvertisement {
  const reader = advertisementReader();
  reader.push(body);
  reader.end();
  return reader.found;
}
