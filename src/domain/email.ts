import { domainToASCII } from "node:url";

/** Maximum length of an email in characters (RFC 5321). Longer text is not converted. */
const MAX_LENGTH = 254;
/** Maximum length of the part before the @, in characters (RFC 5321, section 4.5.3.1.1). */
const MAX_LOCAL_LENGTH = 64;

/**
 * Returns an email with its domain in ASCII (RFC 5890), so that both forms of an internationalized
 * domain are equal. Other text is returned unchanged.
 */
export function withAsciiDomain(email: string): string {
  const at = email.lastIndexOf("@") + 1;
  const domain = email.slice(at);
  if (at === 0 || email.length > MAX_LENGTH || /^[\0-\x7f]*$/.test(domain)) return email;
  return email.slice(0, at) + (domainToASCII(domain) || domain);
}

/**
 * Whether the part before the @ has at most 64 characters and no leading, trailing or consecutive
 * dots (RFC 5321). Other characters are not checked.
 */
export function hasValidLocalPart(email: string): boolean {
  const local = email.slice(0, Math.max(0, email.lastIndexOf("@")));
  return local.length <= MAX_LOCAL_LENGTH && !/^\.|\.\.|\.$/.test(local);
}
