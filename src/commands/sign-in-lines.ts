import { readConfig } from "../config/config.ts";

/** Says how to use a sign-in link: at `PUBLIC_URL`, or else where the service listens on this machine. */
export function signInLines(path: string): string[] {
  const { publicUrl, port } = readConfig(process.env);
  return [
    "The link to sign in by, once, within 15 minutes; shown this once:",
    `${publicUrl ?? `http://127.0.0.1:${port}`}${path}`,
  ];
}
