import type { IncomingMessage } from 'node:http';

/**
 * Takes the address out of a redirect before any client sees it: some clients follow whatever they are told. An answer
 * of 2xx may name another host, too, as for an upload's session; the guard judges that.
 */
export function withoutRedirect(message: unknown): void {
  // As Node's channel for answers has it.
  const { response } = message as { readonly response: IncomingMessage };
  const { statusCode = 0, rawHeaders } = response;
  if (statusCode < 300 || statusCode > 399) return;
  // In place: Node makes `headers` of these later, by their number.
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === 'location') rawHeaders.splice(at, 2, 'x-not-followed', '');
  delete response.headers.location;
}
