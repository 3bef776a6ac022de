import { parseSync } from 'oxc-parser';
import type { Mutant } from './mutant.ts';

export type Guard = Pick<Mutant, 'from' | 'to' | 'without'>;

/** A node of a syntax tree, in the shape of ESTree. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** What stands in place of a part of the source once a guard is gone. */
interface Edit {
  readonly node: Pick<Node, 'start' | 'end'>;
  readonly to: string;
  readonly how: string;
}

/**
 * Every guard of a source: an `if` that is left out, each part of `&&`, `||` and `?:` that decides alone, a list that
 * is not filtered. What chooses words for a person is none, nor is whether a field is there.
 */
export function guardsIn(source: string): readonly Guard[] {
  return [...editsIn(programOf(source), source)].map((edit) => guardOf(edit, source));
}

/** A source's syntax tree. @throws {TypeError} */
export function programOf(source: string): Node {
  const { program, errors } = parseSync('guards.ts', source);
  if (errors[0]) throw new TypeError(errors[0].message);
  return program as unknown as Node;
}

export function guardOf({ node, to, how }: Edit, source: string): Guard {
  const [start, end] = only(source, node);
  const text = source.slice(node.start, node.end).replaceAll(/\s+/g, ' ');
  return {
    from: source.slice(start, end),
    to: source.slice(start, node.start) + to + source.slice(node.end, end),
    without: `proposed, ${how}: ${text.length > 120 ? `${text.slice(0, 120)}…` : text}`,
  };
}

function* editsIn(node: Node, source: string): Generator<Edit> {
  yield* editsOf(node, source);
  if (node.type === 'TemplateLiteral' || node.type === 'SpreadElement') return;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* editsIn(child, source);
  }
}

function* editsOf(node: Node, source: string): Generator<Edit> {
  const text = (child: unknown) => {
    if (!isNode(child)) return '';
    const found = source.slice(child.start, child.end);
    // After an arrow a brace would begin a block.
    return child.type === 'ObjectExpression' ? `(${found})` : found;
  };
  switch (node.type) {
    case 'IfStatement':
      yield { node, to: text(node.alternate), how: 'left out' };
      return;
    case 'LogicalExpression': {
      const { left, right, operator } = node;
      if (operator === '??' || isWords(right)) return;
      yield { node, to: text(left), how: 'without its last part' };
      // Of a chain the parts before that are taken out one by one further in.
      if (isNode(left) && left.operator !== operator) yield { node, to: text(right), how: 'without its first part' };
      return;
    }
    case 'ConditionalExpression':
      if (isWords(node.consequent) || isWords(node.alternate)) return;
      yield { node, to: text(node.consequent), how: 'as if it were so' };
      yield { node, to: text(node.alternate), how: 'as if it were not so' };
      return;
    case 'CallExpression': {
      const { callee } = node;
      if (isNode(callee) && isNode(callee.property) && callee.property.name === 'filter') {
        yield { node, to: text(callee.object), how: 'not filtered' };
      }
    }
  }
}

/** A code is one word. */
function isWords(value: unknown): boolean {
  if (!isNode(value)) return false;
  return value.type === 'TemplateLiteral' || (value.type === 'Literal' && String(value.value).includes(' '));
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** Whole lines with the node, and as many before them as make them the only ones of their text. */
function only(source: string, { start, end }: Edit['node']): readonly [start: number, end: number] {
  const until = source.indexOf('\n', end) + 1 || source.length;
  for (let from = source.lastIndexOf('\n', start) + 1; from > 0; from = source.lastIndexOf('\n', from - 2) + 1) {
    if (source.split(source.slice(from, until)).length === 2) return [from, until];
  }
  return [0, until];
}
