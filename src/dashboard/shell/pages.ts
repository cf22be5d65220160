import type { ComponentType } from "preact";
import { PAGE_ENTRIES, PAGES, type PageName } from "../routes/pages.ts";
import { paths } from "../routes/paths.ts";

type Components = Readonly<Record<string, ComponentType<object>>>;

const FILES = import.meta.glob<Components>("../*/*.page.tsx");

const LOADERS = new Map(
  Object.entries(FILES).map(([file, load]) => [file.replace(/^.*\/(.+)\.page\.tsx$/, "$1"), load]),
);

const loaded = new Map<PageName, ComponentType<object>>();

export function componentOf(name: PageName): ComponentType<object> | undefined {
  return loaded.get(name);
}

export async function loadPage(name: PageName): Promise<void> {
  if (loaded.has(name)) return;
  const page = PAGES[name];
  const file = "file" in page ? page.file : name;
  const load = LOADERS.get(file.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))!;
  const component = `${name.charAt(0).toUpperCase()}${name.slice(1)}Page`;
  loaded.set(name, (await load())[component]!);
}

/** Whether a path belongs to the platform pages, which only operators can access. */
export function isPlatformPath(pathname: string): boolean {
  return pathname === "/platform" || pathname.startsWith("/platform/");
}

export function isOfTestMode(name: PageName): boolean {
  return "isTest" in PAGES[name];
}

export function findPage(pathname: string) {
  for (const [name] of PAGE_ENTRIES) {
    const parameters = paths[name].match(pathname);
    if (parameters !== undefined) return { name, parameters: parameters as object };
  }
  return undefined;
}
