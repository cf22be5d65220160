import { Code, ConnectError } from "@connectrpc/connect";
import { AccountService } from "../../../gen/shipments/account/v1/account_service_pb.js";
import { clientFor } from "./clients.ts";
import { noteConnectionLost } from "./connection.ts";
import type { Refusal } from "./documents.ts";
import { fieldError, problemOf, type Problem } from "./problem.ts";
import { clearSession, onSignedIn } from "./session.ts";
import { createStore } from "./store.ts";

/** Error from the last attempt to load the account, if it failed. */
export const accountProblem = createStore<Problem | undefined>(undefined);

export async function loadAccount(): Promise<void> {
  accountProblem.set(undefined);
  try {
    const { data } = await clientFor(AccountService).getAccount({});
    onSignedIn(data!);
  } catch (error) {
    // If there is no session, the sign-in page is already shown.
    accountProblem.set(problemOf(error));
  }
}

/**
 * Starts a session with the token of a sign-in link.
 *
 * @throws ConnectError from the service if the link is invalid
 */
export async function signIn(token: string): Promise<void> {
  await postForm("/sign-in", { token });
  await loadAccount();
}

/**
 * Sends a sign-in link if an account has this email. The response does not reveal whether one does.
 *
 * @throws ConnectError from the service if the email is invalid or the rate limit is exceeded
 */
export async function requestLink(email: string): Promise<void> {
  await postForm("/sign-in/mail", { email });
}

/**
 * Signs out of this browser.
 *
 * @throws ConnectError if the service cannot be reached
 */
export async function signOut(): Promise<void> {
  await postForm("/sign-out", {});
  clearSession();
}

async function postForm(path: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const body = new URLSearchParams(fields);
  let response: Response;
  try {
    response = await fetch(path, { method: "POST", body, redirect: "manual" });
  } catch (error) {
    noteConnectionLost();
    throw new ConnectError("The service cannot be reached.", Code.Unavailable, {}, [], error);
  }
  if (response.type === "opaqueredirect") return;
  const { message, errors } = (await response.json()) as Required<Refusal>;
  const [field] = Object.keys(errors);
  if (response.status === 422 && field !== undefined) throw fieldError(field, message);
  throw new ConnectError(message, Code.PermissionDenied);
}

export interface Options {
  /** Identity provider for signing in, null if not configured. */
  readonly oidc: { readonly name: string } | null;
  readonly mail: boolean;
  readonly grpc: { readonly url: string | null; readonly port: number | null };
}

export async function grpcAddress(signal: AbortSignal): Promise<string> {
  const { url, port } = (await loadOptions(signal)).grpc;
  return url ?? `http://${location.hostname}:${port}`;
}

export async function loadOptions(signal: AbortSignal): Promise<Options> {
  return (await fetch("/sign-in/options", { signal })).json() as Promise<Options>;
}
