import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** Classes of Tailwind's that the pages of a request and of a commit have: Gitea's own build makes them from names. */
const utilities: Readonly<Record<string, string>> = {
  hidden: 'display: none',
  flex: 'display: flex',
  relative: 'position: relative',
  'flex-1': 'flex: 1',
  'flex-col': 'flex-direction: column',
  'flex-wrap': 'flex-wrap: wrap',
  'flex-shrink-0': 'flex-shrink: 0',
  'items-center': 'align-items: center',
  'justify-end': 'justify-content: flex-end',
  'gap-4': 'gap: 16px',
  'align-middle': 'vertical-align: middle',
  'w-full': 'width: 100%',
  'w-24': 'width: 96px',
  'max-w-2xl': 'max-width: 672px',
  'm-0': 'margin: 0',
  'm-auto': 'margin: auto',
  'mt-1': 'margin-top: 4px',
  'mt-2': 'margin-top: 8px',
  'mb-1': 'margin-bottom: 4px',
  'ml-1': 'margin-left: 4px',
  'ml-2': 'margin-left: 8px',
  'ml-auto': 'margin-left: auto',
  'mr-1': 'margin-right: 4px',
  'mr-2': 'margin-right: 8px',
  'p-4': 'padding: 16px',
  'pt-2': 'padding-top: 8px',
  'text-18': 'font-size: 18px',
  'font-mono': 'font-family: var(--fonts-monospace)',
  'font-semibold': 'font-weight: 600',
  'text-green': 'color: var(--color-green)',
  'text-red': 'color: var(--color-red)',
};

/**
 * What Gitea's pages need from `/assets`, where it was built from its source: its own stylesheets, and scripts that do
 * nothing. Its scripts need packages that we don't have, and a page whose scripts are missing is one of alerts.
 *
 * @param custom where Gitea looks before its own files
 */
export async function writePages(staticRoot: string, custom: string): Promise<void> {
  const assets = join(custom, 'public/assets');
  const source = join(staticRoot, 'web_src/css');
  await build({
    entryPoints: { index: join(source, 'index.css'), 'theme-gitea-auto': join(source, 'themes/theme-gitea-auto.css') },
    outdir: join(assets, 'css'),
    bundle: true,
    plugins: [withoutPackages],
    footer: { css: utilityRules() },
    logLevel: 'error',
  });
  await mkdir(join(assets, 'js'));
  for (const name of ['index.js', 'iife.js']) await writeFile(join(assets, 'js', name), '');
}

/** Styles of packages are left out: they are for editors of pictures and the like. */
const withoutPackages: Plugin = {
  name: 'without-packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z]/ }, ({ kind, path }) =>
      kind === 'import-rule' ? { path, namespace: 'package' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'package' }, () => ({ contents: '', loader: 'css' }));
  },
};

function utilityRules(): string {
  return Object.entries(utilities)
    .map(([name, rule]) => `.tw-${name} { ${rule} !important; }`)
    .join('\n');
}
