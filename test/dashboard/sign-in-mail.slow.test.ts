import { expect, onTestFinished, test } from "vitest";
import { HAS_CHROMIUM, launchChromium } from "../support/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { linkIn, startMailServer } from "../support/mail-server.ts";
import { PAGE_MS } from "../support/limits.ts";
import { startService } from "../support/service.ts";
import { enter, expectUsable, expectWellShown, openWorkspaceMenu, PHONE, rowsOf, tabTo } from "./browser.ts";

test.runIf(HAS_CHROMIUM)(
  "a person who requests a link by email returns to their page and invites others by email",
  async () => {
    // Emails contain the public URL, so the port must be known before the service listens.
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const server = await startMailServer();
    const mail = { smtpUrl: server.url, from: "Shipments <no-reply@example.org>" };
    const service = await startService({ dashboard: true, port, publicUrl, mail });
    const browser = await launchChromium();
    onTestFinished(async () => {
      await browser.close();
      await service.close();
    });
    const { id, apiKey } = await service.addWorkspace();
    const body = { email: "ada@example.org", name: "Ada Lovelace", role: "admin" };
    await service.request("/v1/members", { apiKey, body });
    const mailTo = (to: string, subject: string) =>
      eventually(`${subject} to ${to}`, () =>
        server.mails.find(({ to: [at], headers }) => at === to && headers.subject === subject),
      );
    const page = await (await browser.newContext({ baseURL: publicUrl })).newPage();
    page.setDefaultTimeout(PAGE_MS);

    // Uses only the keyboard.
    await page.goto(`/w/${id}/shipments?status=1`);
    const email = page.getByLabel("Email");
    await tabTo(page, email);
    await expectWellShown(page, "sign-in-mail");
    await page.keyboard.type("ada@");
    await page.keyboard.press("Enter");
    await page.getByText("Enter an email such as ada@example.org.").waitFor();
    await page.locator("input:focus").waitFor();
    await expectWellShown(page, "sign-in-mail-refused");
    await page.keyboard.press("End");
    await page.keyboard.type("example.org");
    await page.keyboard.press("Enter");
    await page.locator("h2:focus", { hasText: "Check your email" }).waitFor();
    await expect.poll(() => page.title()).toBe("Check your email · Shipments");
    await page.getByText("If ada@example.org has an account here").waitFor();
    await expectWellShown(page, "sign-in-mail-sent");

    // An unknown person gets the same message, and can go back.
    await enter(page, page.getByRole("button", { name: "Use another email or request a new link" }));
    await page.locator("input:focus").waitFor();
    await expect.poll(() => email.inputValue()).toBe("ada@example.org");
    await email.fill("nobody@example.org");
    await page.getByRole("button", { name: "Send me a link" }).click();
    await page.getByText("If nobody@example.org has an account here").waitFor();

    const phone = await (await browser.newContext({ baseURL: publicUrl, ...PHONE })).newPage();
    await phone.goto("/sign-in");
    await phone.getByLabel("Email").fill("nobody@example.org");
    await expectUsable(phone);
    await phone.getByRole("button", { name: "Send me a link" }).tap();
    await phone.getByText("If nobody@example.org has an account here").waitFor();
    await expectUsable(phone);

    const other = await page.context().newPage();
    await other.goto(linkIn(await mailTo("ada@example.org", "Your link to Shipments")));
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.waitForURL(`${publicUrl}/w/${id}/shipments?status=1`);
    await other.close();

    await page.goto(`/w/${id}/settings#members`);
    await page.getByRole("button", { name: "Invite member" }).click();
    await page.getByLabel("Email").fill("grace@example.org");
    await page.getByRole("button", { name: "Create sign-in link" }).click();
    await page.getByText("An invitation was sent to grace@example.org.").waitFor();
    await expectWellShown(page, "members-mailed");
    await page.keyboard.press("Escape");
    await rowsOf(page, "Members").filter({ hasText: "grace@example.org" }).waitFor();

    const guest = await (await browser.newContext({ baseURL: publicUrl })).newPage();
    const invitation = await mailTo("grace@example.org", "Your invitation to Test");
    await guest.goto(linkIn(invitation));
    await guest.getByRole("button", { name: "Sign in" }).click();
    await (await openWorkspaceMenu(guest)).getByText("grace@example.org").waitFor();

    // Opens the email as a mail program that loads no external content would display it.
    const reader = await (await browser.newContext()).newPage();
    const loaded: string[] = [];
    reader.on("request", (request) => void loaded.push(request.url()));
    await reader.setContent(invitation.html);
    await reader.getByRole("link", { name: "Sign in", exact: true }).waitFor();
    await expectWellShown(reader, "mail-invitation");
    expect(loaded.filter((url) => !url.startsWith("data:"))).toEqual([]);
  },
);
