import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type LanguageServer, startLanguageServer } from './language-server.ts';

/**
 * The compiler as editors use it: one program of the whole checkout, and texts that lie over its files. It checks a
 * file in a fraction of a second, where `tsc` needs a quarter of a minute of processor time.
 */
export interface Compiler extends AsyncDisposable {
  /** From now on these files have these texts, and all others their own. */
  overlay(texts: ReadonlyMap<string, string>): void;
  /** What it says of a file, like `a.ts:7: Property …`. */
  complaintsOf(file: string): Promise<readonly string[]>;
}

interface Report {
  readonly items: readonly Diagnostic[];
}

interface Diagnostic {
  readonly message: string;
  readonly range: { readonly start: { readonly line: number } };
}

export async function startCompiler(checkout: string): Promise<Compiler> {
  const server = startLanguageServer(join(checkout, 'node_modules/.bin/tsc'), ['--lsp', '--stdio'], checkout);
  const uriOf = (file: string) => pathToFileURL(join(checkout, file)).href;
  const versions = new Map<string, number>();
  await server.ask('initialize', { processId: process.pid, rootUri: uriOf(''), capabilities: {} });
  server.tell('initialized', {});
  return {
    overlay: (texts) => {
      for (const file of [...versions.keys()]) {
        if (texts.has(file)) continue;
        versions.delete(file);
        server.tell('textDocument/didClose', { textDocument: { uri: uriOf(file) } });
      }
      for (const [file, text] of texts) put(server, { file, uri: uriOf(file), text, versions });
    },
    complaintsOf: async (file) => {
      const report = (await server.ask('textDocument/diagnostic', { textDocument: { uri: uriOf(file) } })) as Report;
      return report.items.map(({ range, message }) => `${file}:${range.start.line + 1}: ${message}`);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface Put {
  readonly file: string;
  readonly uri: string;
  readonly text: string;
  readonly versions: Map<string, number>;
}

function put(server: LanguageServer, { file, uri, text, versions }: Put): void {
  const version = (versions.get(file) ?? 0) + 1;
  versions.set(file, version);
  if (version === 1)
    server.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'typescript', version, text } });
  else server.tell('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
}
