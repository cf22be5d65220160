import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Account, AccountWorkspace } from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { MemberRole } from "../../../gen/shipments/v1/member_pb.js";
import { dropForms, storeForms } from "./stored-forms.ts";
import { PERSON_KEY } from "./person-key.ts";
import { createStore } from "./store.ts";

/** Role of a member in a workspace. Each role includes the rights of the previous ones. */
type Role = "viewer" | "member" | "admin";

const RANKS: Readonly<Record<Role, MemberRole>> = {
  viewer: MemberRole.VIEWER,
  member: MemberRole.MEMBER,
  admin: MemberRole.ADMIN,
};

/**
 * The signed-in person, null if signed out, `undefined` while loading. Set when the app starts.
 * Reset to null when the service refuses a call because the session has expired.
 */
export const account = createStore<Account | null | undefined>(undefined);

/** Whether the session expired instead of being signed out. */
export const sessionEnded = createStore(false);

/** Called after sign-in. Discards unsaved form contents of any other person. */
export function onSignedIn(person: Account): void {
  const id = String(person.id);
  // Set only on a change, because otherwise tabs would notify each other forever.
  if (account.get()?.id !== person.id) localStorage.setItem(PERSON_KEY, `${id} ${Date.now()}`);
  dropForms(id);
  sessionEnded.set(false);
  account.set(person);
}

/** Shows the sign-in page. Stores unsaved form contents, unless another tab signed out. */
export function onSessionEnded(): void {
  const [person] = localStorage.getItem(PERSON_KEY)?.split(" ") ?? [];
  sessionEnded.set(person !== undefined);
  if (person === undefined) dropForms();
  else if (account.get()) storeForms(person);
  account.set(null);
}

/** Called on sign-out. Removes the person's data from the browser. */
export function clearSession(): void {
  localStorage.removeItem(PERSON_KEY);
  onSessionEnded();
}

export const SignedIn = createContext<Account | undefined>(undefined);

export function useAccount(): Account {
  const signedIn = useContext(SignedIn);
  if (signedIn === undefined) throw new Error("this page requires a session");
  return signedIn;
}

/** ID of the page's workspace, or `undefined` on pages without one. */
export const WorkspaceId = createContext<string | undefined>(undefined);

/** A workspace, or its test twin with the twin's `id`. `live` is the ID of the live workspace. */
export type EnteredWorkspace = NonNullable<ReturnType<typeof findWorkspace>>;

/** Returns a workspace or test twin by ID, or `undefined` if the user is not a member. */
export function findWorkspace(workspaces: readonly AccountWorkspace[], id: string | null | undefined) {
  for (const workspace of workspaces) {
    const { id: live, testWorkspace } = workspace;
    if (String(live) === id) return { ...workspace, isTest: false, live };
    if (testWorkspace !== undefined && String(testWorkspace) === id) {
      return { ...workspace, id: testWorkspace, isTest: true, live };
    }
  }
  return undefined;
}

export function useWorkspace(): EnteredWorkspace {
  const id = useContext(WorkspaceId);
  const workspace = findWorkspace(useAccount().workspaces, id);
  if (workspace === undefined) throw new Error("this page requires a workspace of the user");
  return workspace;
}

/** Whether the user has at least this role in the page's workspace. */
export function useRole(minimum: Role): boolean {
  return useWorkspace().role >= RANKS[minimum];
}

export function useIsTest(): boolean {
  const id = useContext(WorkspaceId);
  return findWorkspace(useContext(SignedIn)?.workspaces ?? [], id)?.isTest ?? false;
}

export function useOperatorRole(minimum: OperatorRole): boolean {
  const { operatorRole } = useAccount();
  return operatorRole !== undefined && operatorRole >= minimum;
}

/** Returns the workspace's IANA time zone, or `undefined` on pages without a workspace. */
export function useTimeZone(): string | undefined {
  const id = useContext(WorkspaceId);
  return findWorkspace(useContext(SignedIn)?.workspaces ?? [], id)?.timeZone;
}
