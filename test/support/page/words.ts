/** How a command stands on a page: every word in an element of its own, and nothing else in between. */
export function commandOf(command: string): RegExp {
  const words = command.split(' ').map((word) => `<span>${RegExp.escape(word)}</span>`);
  return new RegExp(`<pre class="command"><code>${words.join(' ')}</code></pre>`);
}

/** The text of a page as a person reads it. */
export function textOf(body: string): string {
  const shown = body.replace(/<head>.*<\/head>/s, '');
  const text = shown
    .replaceAll(/<\/?(?:p|div|li|td|tr|dd|dt|pre|h\d|span class="said")(?:\s[^>]*)?>/g, '\n')
    .replaceAll(/<[^>]+>/g, '');
  const signs: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => signs[name] ?? '');
}
