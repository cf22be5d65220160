import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { PHONE } from "../dashboard/browser.ts";
import { findChromium } from "../support/chromium.ts";
import { PAGE_MS } from "../support/limits.ts";
import { moveClock } from "./network.ts";

/** A courier's phone, whose browser keeps its data when it is closed or killed. */
export interface Phone {
  readonly page: Page;
  /** Starts the browser again at a URL. Without `kill`, the browser can store everything before it ends. */
  restart(url: string, kill?: "kill"): Promise<void>;
}

/**
 * Starts a phone's browser at a URL.
 *
 * @param clockOffsetMs difference of the phone's clock from the real time
 */
export async function startPhone(url: string, clockOffsetMs = 0): Promise<Phone> {
  const folder = mkdtempSync(join(tmpdir(), "courier-phone-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const open = async (first: string) => {
    const opened = await chromium.launchPersistentContext(folder, {
      executablePath: findChromium()!,
      args: ["--no-sandbox"],
      locale: "en-US",
      timezoneId: "America/New_York",
      ...PHONE,
    });
    await opened.addInitScript(moveClock(clockOffsetMs));
    const page = opened.pages()[0] ?? (await opened.newPage());
    page.setDefaultTimeout(PAGE_MS);
    await page.goto(first);
    return { context: opened, page };
  };
  let { context, page } = await open(url);
  onTestFinished(() => context.close());
  return {
    get page() {
      return page;
    },
    async restart(next, kill) {
      await (kill === undefined ? context.close() : crash(context));
      ({ context, page } = await open(next));
    },
  };
}

async function crash(context: BrowserContext): Promise<void> {
  const session = await context.browser()!.newBrowserCDPSession();
  const closed = context.waitForEvent("close");
  session.send("Browser.crash").catch(() => undefined);
  await closed;
}
