/** What gRPC clients in Java and on its C-core take of headers or trailers, in bytes. */
export const TAKEN_BYTES = 8 * 1024;

/** What headers or trailers count in HTTP/2, in bytes (RFC 9113, section 6.5.2). */
export function headerBytes(headers: Readonly<Record<string, unknown>>): number {
  const bytes = Object.entries(headers).map(([name, value]) => name.length + String(value).length);
  return bytes.reduce((sum, it) => sum + it + 32, 0);
}
