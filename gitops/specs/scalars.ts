import type { ScalarTag, Tags } from 'yaml';

const words = new Map<string, boolean>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
]);

const infinite = /^[-+]?\.(?:inf|Inf|INF)$/;
const notANumber = /^\.(?:nan|NaN|NAN)$/;
const integer = /^(?<sign>[-+]?)(?:0b(?<two>[01]+)|0x(?<sixteen>[\da-f]+)|0o?(?<eight>[0-7]+)|(?<ten>0|[1-9]\d*))$/i;
const decimal = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?$/i;
/** What the reader of kubectl makes of a sign in a strange place. */
const twoWithSign = /^0b(?<sign>[-+])(?<two>[01]+)$/;

/** What kubectl reads an unquoted word as: by YAML 1.1, but for times and base 60 (go.yaml.in/yaml/v2). */
export function plainScalar(text: string): boolean | number | string {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (infinite.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (notANumber.test(text)) return Number.NaN;
  if (text.startsWith('.')) return numberOr(text, text);
  if (!/^[-+\d]/.test(text)) return text;
  const plain = text.replaceAll('_', '');
  const { sign = '', ten, two, eight, sixteen } = (integer.exec(plain) ?? twoWithSign.exec(plain))?.groups ?? {};
  const prefixes = [
    ['0b', two],
    ['0o', eight],
    ['0x', sixteen],
    ['', ten],
  ] as const;
  for (const [prefix, digits] of prefixes) {
    // 64 binary digits are the most that an integer has: of more, reading them would take long and say the same.
    if (digits === undefined || digits.replace(/^0+/, '').length > 64) continue;
    const value = BigInt(`${prefix}${digits}`);
    // Larger ones are no integers there: decimal ones are read as floats, others as text.
    const isInteger = sign === '' ? value < 2n ** 64n : value <= 2n ** 63n - (sign === '-' ? 0n : 1n);
    if (isInteger) return Number(sign === '-' ? -value : value);
  }
  return numberOr(plain, text);
}

function numberOr(plain: string, text: string): number | string {
  if (!decimal.test(plain)) return text;
  const value = Number(plain);
  // Zero has no sign in JSON.
  return Number.isFinite(value) ? value + 0 : text;
}

const tag = (name: string) => `tag:yaml.org,2002:${name}`;

function scalarTag(name: string, test: (value: unknown) => boolean): ScalarTag {
  const isOne = (text: string) => test(plainScalar(text));
  return {
    default: true,
    tag: tag(name),
    test: { test: isOne } as RegExp,
    resolve: (text) => plainScalar(text),
  };
}

const own = [
  scalarTag('bool', (value) => typeof value === 'boolean'),
  scalarTag('int', (value) => Number.isInteger(value)),
  scalarTag('float', (value) => typeof value === 'number'),
];
const replaced = new Set(own.map((one) => one.tag));

/** Tags of the parser, with scalars as kubectl reads them. */
export function withScalarsOfKubectl(tags: Tags): Tags {
  return [...tags.filter((one) => typeof one === 'string' || !replaced.has(one.tag)), ...own];
}

/** How an unquoted word was read by YAML 1.2, as etcd-ratchet did before it read as kubectl does. */
export function readBefore(text: string): boolean | number | string {
  if (/^[-+]?\d+$/.test(text)) return Number(text);
  const isSame = !mayDiffer.test(text) || /^0(?:o[0-7]+|x[\da-fA-F]+)$/.test(text);
  return isSame || /^(?:true|false)$/i.test(text) ? plainScalar(text) : text;
}

/** Words of YAML 1.1, other bases, and numbers with underscores. */
export const mayDiffer = /^(?:y|n|yes|no|on|off|[-+]?0[\dbox].*|[-+]?\d[^_]*_.*)$/i;
