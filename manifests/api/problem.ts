/** Where in a document: keys and indices from its root. */
export type Path = readonly (string | number)[];

/** A problem of a document, in a sentence for its author. */
export interface DocumentProblem {
  readonly path: (string | number)[];
  readonly message: string;
}

/** More would not be read, and a status has to hold them. */
export const mostProblems = 20;

/** A list that stops growing, so that no document makes us report more than a person reads. */
export interface Problems {
  readonly found: DocumentProblem[];
  add(path: Path, message: string): void;
  full(): boolean;
}

export function collectProblems(): Problems {
  const found: DocumentProblem[] = [];
  return {
    found,
    add(path, message) {
      if (found.length < mostProblems) found.push({ path: [...path], message: clip(message, 1000) });
    },
    full: () => found.length >= mostProblems,
  };
}

/** `spec.image.pullSecrets[0].name`; keys that are no plain words are quoted. */
export function dotted(path: Path): string {
  if (path.length === 0) return 'the document';
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(clip(part, 80))}]`;
  }
  return text;
}

/** A value as a person would point at it: short, and without its insides. */
export function shown(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? JSON.stringify(clip(value, 80)) : String(value);
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
