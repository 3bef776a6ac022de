import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Html } from './markup.ts';
import { styleHash } from './style.ts';

/** No script, no form, no frame, nothing from another host; and no cache in between keeps it. */
export const securityHeaders = {
  'content-security-policy': `default-src 'none'; style-src ${styleHash}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-cache',
  vary: 'authorization',
} as const;

/** A page, or "as you have it". */
export function respond(context: Context, page: Html, status: ContentfulStatusCode = 200): Response {
  const body = page.toString();
  for (const [name, value] of Object.entries(securityHeaders)) context.header(name, value);
  if (status !== 200) return context.html(body, status);
  const tag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  context.header('etag', tag);
  const known = context.req.header('if-none-match')?.split(',') ?? [];
  return known.some((one) => one.trim() === tag) ? context.body(null, 304) : context.html(body);
}
