import { networkStores } from '../stores/stores.ts';
import { isPlainObject } from './plain-data.ts';
import { dotted, type Path, type Problems, shown } from './problem.ts';
import type { StateRule } from './rule.ts';
import type { Structural } from './schema.ts';
import { didYouMean, suggest } from './suggest.ts';

/**
 * Holds plain data against a schema and its rules, as the API server would, but with words for people. Like the API
 * server, a rule is asked only once everything inside its value is well-formed.
 */
export function walk(schema: Structural, value: unknown, path: Path, problems: Problems): void {
  if (problems.full()) return;
  const before = problems.found.length;

  const mismatch = typeMismatch(schema, value);
  if (mismatch !== undefined) {
    problems.add(path, `${dotted(path)} must be ${mismatch}, is ${shown(value)}${hint(schema, value)}`);
    return;
  }
  for (const complaint of outOfBounds(schema, value)) problems.add(path, `${dotted(path)} ${complaint}`);
  if (Array.isArray(value)) walkItems(schema, value, path, problems);
  else if (isPlainObject(value)) walkFields(schema, value, path, problems);

  if (problems.found.length === before && schema.rules) {
    applyRules(schema.rules, withoutNulls(schema, value), path, problems);
  }
}

/** Asks rules whose value is known to be well-formed. */
export function applyRules(
  rules: NonNullable<Structural['rules']>,
  value: unknown,
  path: Path,
  problems: Problems,
): void {
  for (const rule of rules) {
    if ('transition' in rule || rule.holds(value as never)) continue;
    const at = [...path, ...(rule.fieldPath?.split('.').slice(1) ?? [])];
    problems.add(at, complaintOf(rule, value, at));
    return;
  }
}

/** As the API server does: a null in a known field that is not nullable is no field, so rules need not handle it. */
function withoutNulls(schema: Structural, value: unknown): unknown {
  const { properties } = schema;
  if (!properties || !isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (!property) return [[key, field]];
      return field === null || field === undefined ? [] : [[key, withoutNulls(property, field)]];
    }),
  );
}

function complaintOf(rule: StateRule, value: unknown, path: Path): string {
  const explanation = rule.explain?.(value as never);
  if (rule.fieldPath !== undefined) return explanation ? `${rule.message} (${explanation})` : rule.message;
  if (!rule.message.startsWith('must')) return `${dotted(path)}: ${rule.message}`;
  if (explanation) return `${dotted(path)} ${rule.message} (${explanation})`;
  if (rule.hidesValue || typeof value === 'object') return `${dotted(path)} ${rule.message}`;
  return `${dotted(path)} ${rule.message}; it is ${shown(value)}`;
}

function walkItems(schema: Structural, items: readonly unknown[], path: Path, problems: Problems): void {
  if (!schema.items) return;
  for (const [index, item] of items.entries()) walk(schema.items, item, [...path, index], problems);
}

function walkFields(schema: Structural, value: Record<string, unknown>, path: Path, problems: Problems): void {
  const properties = schema.properties ?? {};
  const known = Object.keys(properties);

  const misspelt = new Set<string>();
  for (const [key, field] of Object.entries(value)) {
    const at = [...path, key];
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (field === undefined) continue;
    if (property) {
      // The API server drops a null where a field is not nullable.
      if (field !== null) walk(property, field, at, problems);
    } else if (schema.additionalProperties) {
      walk(schema.additionalProperties, field, at, problems);
    } else if (!schema['x-kubernetes-preserve-unknown-fields']) {
      problems.add(at, `${dotted(at)} is not a known field${nameNow(at) ?? didYouMean(key, known)}`);
      const meant = suggest(key, known);
      if (meant !== undefined) misspelt.add(meant);
    }
  }
  for (const key of schema.required ?? []) {
    const field = Object.hasOwn(value, key) ? value[key] : undefined;
    // The slip is the mistake, and it is shown where it stands; that its field is missing says nothing more.
    if (field === undefined && misspelt.has(key)) continue;
    if (field === undefined) problems.add([...path, key], `${dotted([...path, key])} is required`);
    else if (field === null) problems.add([...path, key], `${dotted([...path, key])} is required, but empty`);
  }
}

/** What it should have been, or `undefined` when the type is right. */
function typeMismatch(schema: Structural, value: unknown): string | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    return typeof value === 'string' || Number.isInteger(value) ? undefined : 'a string or an integer';
  }
  if (schema.enum) {
    if (typeof value === 'string' && schema.enum.includes(value)) return undefined;
    return schema.enum.length === 1 ? `${schema.enum[0]}` : `one of ${schema.enum.join(', ')}`;
  }
  switch (schema.type) {
    case 'object':
      return isPlainObject(value) ? undefined : 'an object';
    case 'array':
      return Array.isArray(value) ? undefined : 'a list';
    case 'string':
      return typeof value === 'string' ? undefined : 'a string';
    case 'integer':
      return Number.isInteger(value) ? undefined : 'an integer';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case undefined:
      return undefined;
    default:
      return schema.type satisfies never;
  }
}

/** The slips that YAML invites: `3.6` is a number, `yes` was a boolean once, and an enum has its own spelling. */
function hint(schema: Structural, value: unknown): string {
  if (schema.type === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return ': put it in quotes';
  if (schema.enum && typeof value === 'string') return didYouMean(value, schema.enum);
  return '';
}

function outOfBounds(schema: Structural, value: unknown): string[] {
  const complaints: string[] = [];
  if (typeof value === 'number') {
    if (schema.minimum !== undefined && value < schema.minimum)
      complaints.push(`must be at least ${schema.minimum}, is ${value}`);
    if (schema.maximum !== undefined && value > schema.maximum)
      complaints.push(`must be at most ${schema.maximum}, is ${value}`);
    if (schema.format === 'int32' && Math.abs(value) > 2 ** 31 - 1) complaints.push(`is too large: ${value}`);
    if (!schema.format && !Number.isSafeInteger(value) && Number.isInteger(value))
      complaints.push(`is too large: ${value}`);
    if (schema.format === 'int64' && !Number.isSafeInteger(value)) complaints.push(`is too large: ${value}`);
  }
  if (typeof value === 'string') {
    if (schema.minLength !== undefined && value.length < schema.minLength) complaints.push('must not be empty');
    if (schema.maxLength !== undefined && characters(value) > schema.maxLength) {
      complaints.push(`must have at most ${schema.maxLength} characters, has ${characters(value)}`);
    }
  }
  if (Array.isArray(value) && schema.minItems !== undefined && value.length < schema.minItems) {
    complaints.push(`must have at least ${schema.minItems} ${schema.minItems === 1 ? 'entry' : 'entries'}`);
  }
  if (Array.isArray(value) && schema.maxItems !== undefined && value.length > schema.maxItems) {
    complaints.push(`must have at most ${schema.maxItems} entries, has ${value.length}`);
  }
  if (isPlainObject(value) && schema.maxProperties !== undefined && Object.keys(value).length > schema.maxProperties) {
    complaints.push(`must have at most ${schema.maxProperties} entries, has ${Object.keys(value).length}`);
  }
  return complaints;
}

/** As Go counts them: code points, not UTF-16 units. */
function characters(text: string): number {
  return text.length > 100_000 ? text.length : [...text].length;
}

/** Fields that were renamed, by the last two words of their paths. The old name is refused, and the new one told. */
const renamed: Readonly<Record<string, string>> = {
  'defragmentation.maxUsedRatio': 'defragmentation.maxUsedPercent, a whole number of percent: 50 for 0.5',
  'tls.authorityLifetime': 'tls.managed.authorityLifetime',
  'tls.issuerRef': 'tls.certManager.issuerRef',
  'tls.peerIssuerRef': 'tls.certManager.peerIssuerRef',
  'tls.peerSecretName': 'tls.provided.peerSecretName',
  'tls.serverSecretName': 'tls.provided.serverSecretName',
  'tls.clientSecretName': 'tls.provided.clientSecretName',
  'forge.apiUrl': 'forge.apiURL',
  'checks.comment': 'checks.comments: Enabled for true, Disabled for false',
  'retention.dryRun': 'retention.mode: DryRun for true, Delete for false',
  ...Object.fromEntries(
    networkStores.flatMap(({ field, renamed: former = {} }) =>
      Object.entries(former).map(([name, now]) => [`${field}.${name}`, `${field}.${now}`]),
    ),
  ),
};

/** Ends a sentence about an unknown field; `undefined` where no field ever had this name. */
function nameNow(path: Path): string | undefined {
  const before = path.slice(-2).join('.');
  return Object.hasOwn(renamed, before) ? `: its name is now ${renamed[before]}` : undefined;
}
