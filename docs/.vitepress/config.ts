import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitepress';

const docs = resolve(import.meta.dirname, '..');
const repository = 'https://github.com/etcd-ratchet/etcd-ratchet';

/** The table of contents is docs/README.md, which a test holds to every page: a heading, and a row for each page. */
function sidebar() {
  const index = readFileSync(resolve(docs, 'README.md'), 'utf8');
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [text = ''] = section.split('\n', 1);
      const rows = [...section.matchAll(/^\|.*\| \[([^\]]+)\]\(([^)]+)\) \|$/gm)];
      const pages = new Map(
        rows.flatMap(([, name = '', link = '']) => (link.startsWith('../') ? [] : [[pageOf(link), name] as const])),
      );
      return { text, collapsed: false, items: [...pages].map(([link, name]) => ({ text: name, link })) };
    });
}

function pageOf(link: string): string {
  return `/${link.replace(/\.md(#.*)?$/, '').replace(/(^|\/)README$/, '$1')}`;
}

/** What a page links to outside of the documentation is read in the repository. */
function intoRepository(href: string, page: string): string {
  if (/^[a-z]+:/.test(href) || href.startsWith('#') || href.startsWith('/')) return href;
  const [path = '', anchor] = href.split('#');
  const target = resolve(docs, page, '..', path);
  if (target.startsWith(`${docs}/`) && target.endsWith('.md')) return href;
  const inside = target.slice(resolve(docs, '..').length + 1);
  return `${repository}/blob/main/${inside}${anchor ? `#${anchor}` : ''}`;
}

export default defineConfig({
  title: 'etcd-ratchet',
  description: 'etcd clusters on Kubernetes, kept by pull request',
  lang: 'en',
  rewrites: (id) => id.replace(/(^|\/)README\.md$/, '$1index.md'),
  cleanUrls: true,
  // The page, on a reader's own machine.
  ignoreDeadLinks: 'localhostLinks',
  themeConfig: {
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
  },
  buildEnd({ outDir }) {
    if (readFileSync(join(outDir, 'index.html'), 'utf8').includes('{{'))
      throw new Error(
        "docs: the home page shows a template that nothing filled in, mostly the theme's: look at it in a browser",
      );
  },
  markdown: {
    config(md) {
      // Text like {{cluster}} is that of an object's name. Other delimiters would be those of the theme's own templates, too.
      md.renderer.rules.text = (tokens, at) =>
        md.utils.escapeHtml(tokens[at]?.content ?? '').replaceAll('{{', '{&#123;');
      const text =
        md.renderer.rules.link_open ?? ((tokens, at, options, _, self) => self.renderToken(tokens, at, options));
      md.renderer.rules.link_open = (tokens, at, options, env, self) => {
        const token = tokens[at];
        const href = token?.attrGet('href');
        if (token && href) token.attrSet('href', intoRepository(href, env.relativePath ?? ''));
        return text(tokens, at, options, env, self);
      };
    },
  },
});
