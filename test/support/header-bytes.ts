/** Header limit of gRPC clients in Java and C-core, in bytes. */
export const TAKEN_BYTES = 8 * 1024;

/** Returns the size of headers or trailers in HTTP/2, in bytes (RFC 9113, section 6.5.2). */
export function headerBytes(headers: Readonly<Record<string, unknown>>): number {
  const bytes = Object.entries(headers).map(([name, value]) => name.length + String(value).length);
  return bytes.reduce((sum, it) => sum + it + 32, 0);
}
