import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

/** Names of Chromium's executables. Debian's headless one is first because it uses a third of the CPU time. */
const PROGRAMS = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "microsoft-edge",
];

/** Executables of macOS applications, which are not on PATH. */
const MAC_PROGRAMS = ["Chromium", "Google Chrome", "Microsoft Edge"].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);

/**
 * Returns the path of an installed Chromium: `CHROMIUM_PATH`, an executable on `PATH`, a macOS
 * application or a Playwright download. `undefined` if absent.
 *
 * @throws Error if `CHROMIUM_PATH` is not an executable
 */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
  downloaded: string = chromium.executablePath(),
): string | undefined {
  const { CHROMIUM_PATH: chosen, PATH = "" } = env;
  if (chosen) {
    if (isProgram(chosen)) return chosen;
    throw new Error(`CHROMIUM_PATH is ${chosen}, which is not a program.`);
  }
  const folders = PATH.split(delimiter).filter((folder) => folder !== "");
  const onPath = PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, ...MAC_PROGRAMS, downloaded].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const INSTALLED = findChromium();

/** Whether browser tests can run. */
export const HAS_CHROMIUM = INSTALLED !== undefined;

/** Starts the installed Chromium without its sandbox, which does not work for root. `args` are further switches. */
export function launchChromium(...args: readonly string[]): Promise<Browser> {
  if (INSTALLED === undefined) throw new Error("Chromium is not installed. Install it or set CHROMIUM_PATH.");
  return chromium.launch({ executablePath: INSTALLED, args: ["--no-sandbox", ...args] });
}
