/** A host, and perhaps a port (RFC 9110, section 7.2; RFC 3986, section 3.2.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** Whether a `Host` or `:authority` is one. Remembers the last that is, since few differ. */
export function createHostCheck(): (host: string | undefined) => boolean {
  let known: string | undefined;
  return (host) => {
    if (host === undefined) return false;
    if (host === known) return true;
    if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false;
    known = host;
    return true;
  };
}
