import { onTestFinished, test } from "vitest";
import { HAS_CHROMIUM, launchChromium } from "../support/chromium.ts";
import { freePort } from "../support/free-port.ts";
import { startIdentityProvider } from "../support/identity-provider.ts";
import { PAGE_MS } from "../support/limits.ts";
import { startService } from "../support/service.ts";
import { currentQueue, expectWellShown } from "./browser.ts";

test.runIf(HAS_CHROMIUM)(
  "a person who signs in with an identity provider on another site returns to their page",
  async () => {
    // The provider needs the public URL before the service starts.
    const port = await freePort();
    // `localhost` is a different site than the provider's 127.0.0.1, so that `SameSite` cookies matter.
    const publicUrl = `http://localhost:${port}`;
    const provider = await startIdentityProvider({ publicUrl });
    const service = await startService({ dashboard: true, port, publicUrl, oidc: provider.config });
    const browser = await launchChromium();
    onTestFinished(async () => {
      await browser.close();
      await service.close();
      await provider.stop();
    });
    const { id, apiKey } = await service.addWorkspace();
    await service.request("/v1/members", { apiKey, body: { email: "ada@example.org" } });
    const page = await (await browser.newContext({ baseURL: publicUrl })).newPage();
    page.setDefaultTimeout(PAGE_MS);

    const signInAs = async (login: string) => {
      await page.goto(`/w/${id}/shipments?status=1`);
      await page.getByRole("link", { name: /^Sign in at 127/ }).click();
      await page.getByPlaceholder("Enter any login").fill(login);
      await page.getByPlaceholder("and password").fill("any");
      await page.getByRole("button", { name: "Sign-in" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
    };
    await page.goto("/sign-in");
    await page.getByRole("link", { name: /^Sign in at 127/ }).waitFor();
    await expectWellShown(page, "sign-in-oidc");

    await signInAs("nobody@example.org");
    await page.getByText("Sign-in failed.").waitFor();
    await page.context().clearCookies();

    await signInAs("ada@example.org");
    await page.waitForURL(`${publicUrl}/w/${id}/shipments?status=1`);
    await currentQueue(page).getByText("To pay").waitFor();
  },
);
