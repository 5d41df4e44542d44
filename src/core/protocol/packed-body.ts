/**
 * Why a request body of this `Content-Encoding` is not read (415, RFC 9110 §15.5.16); undefined for one that is sent as
 * it is.
 */
export function packedBody(encoding: string | undefined): string | undefined {
  if (encoding === undefined || /^(?:identity)?$/i.test(encoding.trim())) return undefined;
  return `The body is encoded as "${encoding.slice(0, 80)}". Send it without Content-Encoding.`;
}
