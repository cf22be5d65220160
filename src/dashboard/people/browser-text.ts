/** Browser names in `User-Agent` headers. Derived browsers come first, because they name their base too. */
const BROWSERS = [
  [/\bEdg\w*\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;

const SYSTEMS = [
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/** Converts a `User-Agent` header to readable names of the browser and operating system, such as `Firefox on Linux`. */
export function browserText(userAgent: string): string {
  const find = (kinds: readonly (readonly [RegExp, string])[]) => kinds.find(([form]) => form.test(userAgent))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  if (browser === undefined) return userAgent || "Unknown browser";
  return system === undefined ? browser : `${browser} on ${system}`;
}
