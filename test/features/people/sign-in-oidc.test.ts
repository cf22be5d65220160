import { describe, expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { postForm } from "../../support/browser.ts";
import { connectTo } from "../../support/database.ts";
import { startIdentityProvider } from "../../support/identity-provider.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";
import { stopClock } from "../../support/stop-clock.ts";
import { createVisitor, type VisitedPage, type Visitor } from "../../support/visitor.ts";

const PUBLIC_URL = "https://book.example.org";
const CALLBACK = `${PUBLIC_URL}/sign-in/oidc/callback`;
const DROPPED = "__Host-oidc=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure";

const provider = await startIdentityProvider({ publicUrl: PUBLIC_URL, claims: claimsOf });
const options = { publicUrl: PUBLIC_URL, oidc: provider.config };
const service = await startService(options);
const workspace = await service.addWorkspace();
const database = await connectTo(service.databaseUrl);
for (const email of ["ada@example.org", "unverified@example.org", "kate@example.org"]) {
  await service.as(workspace.apiKey).inviteMember({ email });
}

function claimsOf(login: string): Record<string, unknown> {
  if (login.startsWith("unverified")) return { email: login, email_verified: false };
  if (login.startsWith("said-false")) return { email: login.slice(11), email_verified: "false" };
  if (login.startsWith("said-true")) return { email: login.slice(10), email_verified: "true" };
  if (login.startsWith("null:")) return { email: login.slice(5), email_verified: null };
  if (login.startsWith("silent:")) return { email: login.slice(7) };
  if (login.startsWith("none:")) return {};
  return { email: login, email_verified: true };
}

/** Returns the gRPC address that `/sign-in/options` reports for a service. */
const grpcOf = ({ grpcUrl }: TestService) => ({ url: null, port: Number(new URL(grpcUrl).port) });

const visitor = (to = service) => createVisitor(PUBLIC_URL, to.httpUrl);

/** Signs in at the provider. Returns the redirect URL without following it. */
async function signInAtProvider(guest: Visitor, login: string, returnTo = "/w/1"): Promise<URL> {
  const query = new URLSearchParams({ return_to: returnTo });
  return fillForms(guest, login, `${PUBLIC_URL}/sign-in/oidc?${query}`);
}

/** Follows a URL to the provider's forms and fills them in. */
async function fillForms(guest: Visitor, login: string, from: string): Promise<URL> {
  let page = await guest.visit(from, { stopBefore: CALLBACK });
  while (!page.url.href.startsWith(CALLBACK)) {
    const action = /<form [^>]*action="([^"]+)"/.exec(page.text)![1]!;
    const prompt = /name="prompt" value="([^"]+)"/.exec(page.text)![1]!;
    const form = new URLSearchParams({ prompt, login, password: "any" });
    const to = new URL(action, page.url).href;
    page = await guest.visit(to, { form, stopBefore: CALLBACK });
  }
  return page.url;
}

/** Signs in at the provider and follows the redirect to the service. */
async function signInAs(guest: Visitor, login: string, returnTo?: string): Promise<VisitedPage> {
  return guest.visit((await signInAtProvider(guest, login, returnTo)).href);
}

/** Returns the account of the signed-in person. */
function accountOf(guest: Visitor) {
  const headers = { cookie: guest.cookies(PUBLIC_URL), "sec-fetch-site": "same-origin" };
  return service.request("/account/v1/account", { headers });
}

/** Redirect after a refused sign-in. */
const REFUSED = {
  status: 403,
  text: expect.stringContaining("<p>Sign-in failed. Try again, or ask an admin of your workspace for a link.</p>"),
};

function expectRefused(page: VisitedPage, guest: Visitor): void {
  expect({ status: page.status, text: page.text }).toEqual(REFUSED);
  expect(page.headers.getSetCookie()).toEqual([DROPPED]);
  expect(guest.cookies(PUBLIC_URL)).toBe("");
}

describe("signing in at the identity provider", () => {
  test("is offered under the provider's host name", async () => {
    const { status, body } = await service.request("/sign-in/options");
    const name = new URL(provider.config.issuer).host;
    expect([status, body]).toEqual([200, { oidc: { name }, mail: false, grpc: grpcOf(service) }]);
  });

  test("starts with a redirect that contains no secret, and sets a cookie for the return", async () => {
    const begun = await fetch(`${service.httpUrl}/sign-in/oidc`, { redirect: "manual" });
    expect(begun.status).toBe(303);
    const { origin, pathname, searchParams } = new URL(begun.headers.get("location")!);
    expect([origin, pathname]).toEqual([provider.config.issuer, "/auth"]);
    const random = expect.stringMatching(/^[A-Za-z0-9_-]{43}$/);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: provider.config.clientId,
      redirect_uri: CALLBACK,
      response_type: "code",
      scope: "openid email",
      code_challenge: random,
      code_challenge_method: "S256",
      state: random,
      nonce: random,
    });
    expect(begun.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-oidc=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/),
    ]);
  });

  test("starts a session and continues on a page of this site, which receives the session cookie", async () => {
    const guest = visitor();
    const page = await signInAs(guest, "ada@example.org", "/w/1/shipments?status=pending&page=2");
    expect(page.status).toBe(200);
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure$/),
      DROPPED,
    ]);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; /);
    expect(page.text).toContain(
      '<meta http-equiv="refresh" content="0; url=/w/1/shipments?status=pending&amp;page=2">',
    );
    const { email, workspaces } = await data(accountOf(guest));
    expect([email, workspaces.length]).toEqual(["ada@example.org", 1]);
  });

  // The same return addresses are valid as after signing in with a link.
  test.each([
    ["//evil.example", "/"],
    ['/"><script>', "/&quot;&gt;&lt;script&gt;"],
  ])("from a page at %j, continues at %j", async (returnTo, target) => {
    const { text } = await signInAs(visitor(), "ada@example.org", returnTo);
    expect(text).toContain(`http-equiv="refresh" content="0; url=${target}"`);
  });

  test("ignores the case of the email", async () => {
    expect((await signInAs(visitor(), "ADA@Example.org")).status).toBe(200);
  });

  test.each([
    ["with an unknown email", "nobody@example.org"],
    ["with an unverified email", "unverified@example.org"],
    ["with the string 'false' as the email_verified claim", "said-false:ada@example.org"],
    ["with the string 'true' as the email_verified claim", "said-true:ada@example.org"],
    ["without an email_verified claim", "silent:ada@example.org"],
    ["with null as the email_verified claim", "null:ada@example.org"],
    ["without an email", "none:ada@example.org"],
    ["with an email that differs from an account's only in a lookalike letter", "\u{212a}ate@example.org"],
  ])("rejects a person %s with the same message", async (_, login) => {
    const guest = visitor();
    expectRefused(await signInAs(guest, login), guest);
    const added = "select count(*)::int as count from person where email <> all ($1)";
    const known = ["ada@example.org", "unverified@example.org", "kate@example.org"];
    expect((await database.query(added, [known])).rows).toEqual([{ count: 0 }]);
  });

  test("rejects a person who cancels at the provider with the same message", async () => {
    const guest = visitor();
    const page = await guest.visit(`${PUBLIC_URL}/sign-in/oidc`);
    const abort = new URL(/href="([^"]+\/abort)"/.exec(page.text)![1]!, page.url);
    const back = await guest.visit(abort.href, { stopBefore: CALLBACK });
    expect(back.url.searchParams.get("error")).toBe("access_denied");
    expectRefused(await guest.visit(back.url.href), guest);
  });

  test("rejects programs with JSON", async () => {
    const { status, body } = await service.request("/sign-in/oidc/callback?code=x&state=y");
    const message = "Sign-in failed. Try again, or ask an admin of your workspace for a link.";
    expect([status, body]).toEqual([403, { message, errors: {} }]);
  });
});

describe("a response from the provider", async () => {
  // A replica without failed attempts does not delay calls.
  const replica = await startReplica(service.databaseUrl, options);

  /** Follows the redirect to a replica as the browser would. */
  const deliverResponse = (answer: URL, cookie: string, to = replica) =>
    fetch(answer.href.replace(PUBLIC_URL, to.httpUrl), { headers: { cookie } });

  test("starts one session, however often and at whichever replica it arrives", async () => {
    const guest = visitor(replica);
    const answer = await signInAtProvider(guest, "ada@example.org");
    const cookie = guest.cookies(PUBLIC_URL);
    const responses = await Promise.all([service, replica].map((to) => deliverResponse(answer, cookie, to)));
    expect(responses.map(({ status }) => String(status)).sort()).toEqual(["200", "403"]);
    const again = await deliverResponse(answer, cookie);
    expect([again.status, again.headers.getSetCookie()]).toEqual([403, [DROPPED]]);
  });

  test("to a finished attempt is not exchanged at the provider, which might accept it", async () => {
    const guest = visitor(replica);
    const answer = await signInAtProvider(guest, "ada@example.org");
    const cookie = guest.cookies(PUBLIC_URL);
    const refused = new URL(answer);
    refused.searchParams.set("state", "another");
    expect((await deliverResponse(refused, cookie)).status).toBe(403);
    expect((await deliverResponse(answer, cookie)).status).toBe(403);
  });

  test("ends the session that the browser had when it left", async () => {
    const guest = visitor(replica);
    await signInAs(guest, "ada@example.org");
    const cookie = guest.cookies(PUBLIC_URL);
    const statusOf = async () => {
      const headers = { cookie, "sec-fetch-site": "same-origin" };
      return (await replica.request("/account/v1/account", { headers })).status;
    };
    const answer = await signInAtProvider(guest, "kate@example.org");
    expect(await statusOf()).toBe(200);
    // Browsers omit SameSite=Strict cookies when the navigation comes from another site.
    const attempt = /__Host-oidc=[^;]+/.exec(guest.cookies(PUBLIC_URL))![0];
    expect((await deliverResponse(answer, attempt)).status).toBe(200);
    expect(await statusOf()).toBe(401);
  });

  test("is accepted only with the prefixed cookie", async () => {
    const guest = visitor(replica);
    const answer = await signInAtProvider(guest, "ada@example.org");
    const cookie = guest.cookies(PUBLIC_URL).replace("__Host-", "");
    expect((await deliverResponse(answer, cookie)).status).toBe(403);
  });

  test("is accepted only in the browser that requested it", async () => {
    const victim = visitor(replica);
    const answer = await signInAtProvider(visitor(replica), "ada@example.org");
    expectRefused(await victim.visit(answer.href), victim);
    await signInAtProvider(victim, "kate@example.org");
    expectRefused(await victim.visit(answer.href), victim);
  });

  test.each(["nonce", "code_challenge"])("to another %s is rejected", async (parameter) => {
    const guest = visitor(replica);
    const begun = await guest.visit(`${PUBLIC_URL}/sign-in/oidc`, {
      stopBefore: provider.config.issuer,
    });
    begun.url.searchParams.set(parameter, "A".repeat(43));
    const answer = await fillForms(guest, "ada@example.org", begun.url.href);
    expectRefused(await guest.visit(answer.href), guest);
  });

  test.each(["state", "code", "iss"])("with another %s is rejected", async (parameter) => {
    const guest = visitor(replica);
    const answer = await signInAtProvider(guest, "ada@example.org");
    answer.searchParams.set(parameter, "another");
    expectRefused(await guest.visit(answer.href), guest);
  });
});

test("a session over https is accepted only with the prefixed cookie", async () => {
  const guest = visitor();
  await signInAs(guest, "ada@example.org");
  const cookie = guest.cookies(PUBLIC_URL);
  const statusWith = async (headers: Record<string, string>) =>
    (await service.request("/account/v1/account", { headers })).status;
  const own = { "sec-fetch-site": "same-origin" };
  expect(cookie).toMatch(/^__Host-session=[\w-]{43}$/);
  expect(await statusWith({ ...own, cookie })).toBe(200);
  expect(await statusWith({ ...own, cookie: cookie.replace("__Host-", "") })).toBe(401);
  expect(await statusWith({ ...own, cookie: cookie.replace("__Host-", "__Secure-") })).toBe(401);
  const origin = service.httpUrl.replace("http:", "https:");
  expect(await statusWith({ origin, cookie })).toBe(200);
  expect(await statusWith({ origin: service.httpUrl, cookie })).toBe(403);
});

test("a session ends with the person's last workspace, and a new invitation requires signing in again", async () => {
  const { inviteMember, removeMember } = service.as(workspace.apiKey);
  const invite = () => data(inviteMember({ email: "last@example.org" }));
  const { person } = await invite();
  const guest = visitor();
  await signInAs(guest, "last@example.org");
  expect((await accountOf(guest)).status).toBe(200);
  await removeMember({ person });
  await invite();
  expect((await accountOf(guest)).status).toBe(401);
  const again = visitor();
  await signInAs(again, "last@example.org");
  expect((await data(accountOf(again))).workspaces.length).toBe(1);
});

test("an operator who signs in for the first time becomes a person only once", async () => {
  await database.query(
    `insert into operator (name, email, kind, role, created_at)
     values ('Olga Owner', 'Olga@example.org', 'person', 'owner', now()),
       ('A program', 'program@example.org', 'machine', 'owner', now())`,
  );
  const guest = visitor();
  expect((await signInAs(guest, "olga@example.org")).status).toBe(200);
  expect((await signInAs(visitor(), "olga@example.org")).status).toBe(200);
  expect(await data(accountOf(guest))).toEqual({
    id: expect.any(Number),
    email: "Olga@example.org",
    name: "Olga Owner",
    workspaces: [],
    operator_role: "owner",
  });
  const program = visitor();
  expectRefused(await signInAs(program, "program@example.org"), program);
  const former = visitor();
  await database.query(
    `insert into operator (name, email, kind, role, created_at, revoked_at)
     values ('Former', 'former@example.org', 'person', 'owner', now(), now())`,
  );
  expectRefused(await signInAs(former, "former@example.org"), former);
});

describe("the service", () => {
  /** Starts a service for the same people with a different identity provider. */
  async function startWith(kind: Omit<Parameters<typeof startIdentityProvider>[0], "publicUrl">) {
    const other = await startIdentityProvider({ publicUrl: PUBLIC_URL, ...kind });
    return startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL, oidc: other.config });
  }

  test("starts without its identity provider and reports it as unavailable until it is back", async () => {
    const late = await startIdentityProvider({ publicUrl: PUBLIC_URL });
    await late.stop();
    const messages: string[] = [];
    const own = await startReplica(service.databaseUrl, {
      publicUrl: PUBLIC_URL,
      oidc: late.config,
      logged: ({ msg }) => messages.push(String(msg)),
    });
    const away = await visitor(own).visit(`${PUBLIC_URL}/sign-in/oidc`);
    const text = "The identity provider cannot be reached. Try again in a moment.";
    expect([away.status, away.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(away.text).toContain(`<p>${text}</p>`);
    expect(messages).toContain("the identity provider cannot be reached");
    expect(messages).not.toContain("database unavailable");
    await late.start();
    const guest = visitor(own);
    const answer = await signInAtProvider(guest, "ada@example.org");
    await late.stop();
    const { status, text: pageText } = await guest.visit(answer.href);
    expect([status, pageText]).toEqual([503, expect.stringContaining(text)]);
  });

  test("can be configured to treat emails without an email_verified claim as verified", async () => {
    const own = await startWith({ claims: claimsOf, assumeEmailVerified: true });
    for (const login of ["silent:ada@example.org", "said-true:ada@example.org"]) {
      expect((await signInAs(visitor(own), login)).status).toBe(200);
    }
    for (const login of ["unverified@example.org", "said-false:ada@example.org"]) {
      const guest = visitor(own);
      expectRefused(await signInAs(guest, login), guest);
    }
  });

  test("rejects an email in an ID token without an email_verified claim", async () => {
    const own = await startWith({ claims: claimsOf, inIdToken: true });
    const guest = visitor(own);
    expectRefused(await signInAs(guest, "silent:ada@example.org"), guest);
  });

  test.each([{ inIdToken: true }, { authMethod: "client_secret_post" }] as const)(
    "signs in people at a provider with %j",
    async (kind) => {
      const own = await startWith(kind);
      expect((await signInAs(visitor(own), "ada@example.org")).status).toBe(200);
    },
  );

  test("limits failed sign-ins by client address, for links and OIDC together", async () => {
    stopClock();
    const own = await startReplica(service.databaseUrl, options);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) {
      statuses.push((await own.request("/sign-in/oidc/callback?code=x")).status);
      const form = await postForm(own, "/sign-in", { token: String(i).padStart(43, "A") });
      statuses.push(form.status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 403));
    expect(statuses).toContain(429);
  });

  test("offers no identity provider if none is configured", async () => {
    const publicGrpcUrl = "https://grpc.example.org";
    const own = await startReplica(service.databaseUrl, { publicGrpcUrl });
    const { body } = await own.request("/sign-in/options");
    const grpc = { ...grpcOf(own), url: publicGrpcUrl };
    expect(body).toEqual({ oidc: null, mail: false, grpc });
    expect((await own.request("/sign-in/oidc")).status).toBe(404);
    expect((await own.request("/sign-in/oidc/callback")).status).toBe(404);
  });
});
