import { shownName } from "../../domain/clip.ts";
import { fieldViolation, type Violation } from "../../domain/refusal.ts";

/**
 * Returns the parameters of a query, which is percent-encoded UTF-8 with `+` for spaces. `URLSearchParams` is
 * unsuitable, because it keeps malformed text or replaces it with U+FFFD.
 *
 * @param refused receives a violation for each parameter that cannot be decoded
 */
export function readQuery(query: string, refused: Violation[]): [name: string, text: string][] {
  return query.split("&").flatMap((parameter): [string, string][] => {
    if (parameter === "") return [];
    const equals = parameter.indexOf("=");
    const [name, text] = equals === -1 ? [parameter, ""] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
    const decodedName = decode(name);
    const decodedText = decode(text);
    if (decodedName !== undefined && decodedText !== undefined) return [[decodedName, decodedText]];
    const subject = shownName(decodedName ?? name);
    const problem = /%(?![0-9a-f]{2})/i.test(parameter)
      ? "has a % that is not followed by two hexadecimal digits. Write % as %25."
      : "is not UTF-8. Percent-encode its UTF-8 bytes.";
    refused.push(fieldViolation(subject, problem));
    return [];
  });
}

/**
 * Returns decoded text, `undefined` if it is malformed. Non-ASCII characters are malformed, because
 * Node decodes such bytes as Latin-1 whatever their encoding.
 */
function decode(text: string): string | undefined {
  if (/[\u0080-\uffff]/.test(text)) return undefined;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
