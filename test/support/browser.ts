import type { Answer, RequestOptions } from "./client.ts";
import type { Endpoints } from "./endpoints.ts";

/** Session of a signed-in person, used without a browser. */
export interface SignedIn {
  /** Value of the session's `Cookie` header. */
  readonly cookie: string;
  /** Sends a request with the headers of a same-site page. */
  request(path: string, options?: RequestOptions): Promise<Answer>;
}

/** Invites a person to the workspace that owns the key, and signs them in with the link. */
export async function signIn(
  service: Endpoints,
  apiKey: string,
  member: { email: string; role: "viewer" | "member" | "admin"; name?: string },
): Promise<SignedIn> {
  const { body } = await service.request("/v1/members", { apiKey, body: member });
  return signInByPath(service, body.sign_in_path);
}

/** Signs in with the path of a sign-in link. */
export async function signInByPath(service: Endpoints, path: string): Promise<SignedIn> {
  const entered = await postForm(service, "/sign-in", { token: path.split("#token=")[1]! });
  if (entered.status !== 303) throw new Error(`sign-in failed: ${await entered.text()}`);
  const cookie = entered.headers.get("set-cookie")!.split(";")[0]!;
  const own = { cookie, "sec-fetch-site": "same-origin" };
  return {
    cookie,
    request: (to, options = {}) => service.request(to, { ...options, headers: { ...own, ...options.headers } }),
  };
}

/** Sends a form with the headers of a same-site page. The given headers override them. */
export function postForm(
  service: Endpoints,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = { "sec-fetch-site": "same-origin" },
): Promise<Response> {
  return fetch(`${service.httpUrl}${path}`, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers,
    redirect: "manual",
  });
}
