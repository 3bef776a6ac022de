import { group, type Kind, kinds, apiVersion as ourApiVersion, version } from '../../manifests/api/group.ts';
import { suggest } from '../../manifests/api/suggest.ts';
import { mayHideWords } from './opaque.ts';

/** Whether a document is one of ours. `mistaken`: it is not, but was surely meant to be. */
export type Recognition =
  | { readonly kind: 'ours'; readonly as: Kind }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'mistaken'; readonly path: readonly string[]; readonly message: string };

/**
 * Tells our documents from all others in the repository. A near miss is a mistake and never foreign: a document that is
 * silently skipped for a typing error looks as if its cluster had been deleted from Git.
 */
export function recognise(object: Readonly<Record<string, unknown>>): Recognition {
  const { apiVersion, kind } = object;
  const kindText = typeof kind === 'string' ? kind : '';
  const known = kinds.find((name) => name === kindText);
  const meant = known ?? suggest(kindText, kinds);

  if (apiVersion === undefined || apiVersion === null) {
    return meant ? mistaken(['apiVersion'], `apiVersion is missing: write ${ourApiVersion}`) : { kind: 'foreign' };
  }
  if (typeof apiVersion !== 'string') {
    return meant ? mistaken(['apiVersion'], `apiVersion must be the text ${ourApiVersion}`) : { kind: 'foreign' };
  }

  const [itsGroup = '', itsVersion, ...rest] = apiVersion.split('/');
  if (itsGroup !== group) {
    // Other operators have a kind EtcdCluster too; theirs is none of our business.
    const nearGroup =
      suggest(itsGroup, [group]) !== undefined ||
      suggest(apiVersion, [ourApiVersion]) !== undefined ||
      apiVersion.toLowerCase().includes('ratchet');
    const noGroup = meant !== undefined && itsVersion === undefined;
    return nearGroup || noGroup
      ? mistaken(['apiVersion'], `apiVersion ${quoted(apiVersion)} is not known: did you mean ${ourApiVersion}?`)
      : { kind: 'foreign' };
  }
  if (itsVersion !== version || rest.length > 0) {
    return mistaken(['apiVersion'], `apiVersion ${quoted(apiVersion)} is not known: did you mean ${ourApiVersion}?`);
  }
  if (kind === undefined || kind === null) return mistaken(['kind'], `kind is missing: write EtcdCluster`);
  if (!known) {
    const hint = meant ? `did you mean ${meant}?` : `the kinds are ${kinds.join(', ')}`;
    return mistaken(['kind'], `kind ${quoted(kind)} is not known: ${hint}`);
  }
  return { kind: 'ours', as: known };
}

/** Whether a text could hold a document of ours, mistakes included. All others need not even be valid YAML. */
export function mayBeOurs(text: string): boolean {
  return /etcd|ratchet/i.test(text) || mayHideWords(text);
}

/**
 * Whether words hold the apiVersion of an object of ours, or may, where escapes are nested too deeply to tell. Our
 * group alone stands in definitions, rights and labels.
 */
export function namesOurVersion(text: string): boolean {
  let words = text;
  for (let depth = 0; depth < mostEscapes; depth++) {
    if (ourVersion.test(words) || (text.includes('\\') && ourVersion.test(withoutBreaks(words)))) return true;
    const plainer = words.includes('\\') ? unescaped(words) : words;
    if (plainer === words) return false;
    words = plainer;
  }
  return true;
}

const ourVersion = /etcd\.ratchet\.dev\/v\d/i;
const mostEscapes = 10;

/** In whatever way a line was broken within a word. */
function withoutBreaks(words: string): string {
  return words.replaceAll(/\\[rnt]|[\s\\]/g, '');
}

/**
 * Letters of a text that is JSON, or YAML in quotes, inside another. Lines that YAML broke are joined first, as long as
 * it can be told which backslash broke them.
 */
function unescaped(text: string): string {
  return text
    .replaceAll(/\\\r?\n[ \t]*/g, '')
    .replaceAll(/\\{2,}/g, '\\')
    .replaceAll(/\\(?:r\\)?n[ \t]*/g, '')
    .replaceAll('\\/', '/')
    .replaceAll(/\\(?:x|u00|U000000)([\da-fA-F]{2})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
}

/** Whether a broken text may have been meant for us: our group or a kind of ours, typing errors included. */
export function mentionsUs(text: string): boolean {
  return /ratchet|\bkind["']?\s*:\s*["']?Etcd|\bEtcd(Cluster|Fleet|Peer|Backup|BackupSchedule|Restore)\b/i.test(text);
}

function mistaken(path: readonly string[], message: string): Recognition {
  return { kind: 'mistaken', path, message };
}

/** A value from the repository, short enough for a message. */
function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
