import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type {
  Account,
  AccountWorkspace,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { MemberRole } from "../../../gen/shipments/v1/member_pb.js";
import { dropForms, keepForms } from "./kept-forms.ts";
import { PERSON_KEY } from "./person-key.ts";
import { createStore } from "./store.ts";

/** What a member may do in a workspace; each role may do all that those before it may. */
type Role = "viewer" | "member" | "admin";

const RANKS: Readonly<Record<Role, MemberRole>> = {
  viewer: MemberRole.VIEWER,
  member: MemberRole.MEMBER,
  admin: MemberRole.ADMIN,
};

/**
 * The person who has signed in; null for nobody, undefined as long as that is not known. Set by the
 * app when it starts, and to null when a call is refused because the session has ended.
 */
export const account = createStore<Account | null | undefined>(undefined);

/** Whether the reader had signed in, and not out: their session ended by itself. */
export const sessionEnded = createStore(false);

/** Called when a person has signed in. What another person typed is dropped. */
export function onSignedIn(person: Account): void {
  const id = String(person.id);
  // Tabs that know it say nothing, or they would answer each other for ever.
  if (account.get()?.id !== person.id) localStorage.setItem(PERSON_KEY, `${id} ${Date.now()}`);
  dropForms(id);
  sessionEnded.set(false);
  account.set(person);
}

/**
 * Has the sign-in page shown, which leads back to where the reader is. What they typed is kept, unless
 * they signed out in another tab.
 */
export function onSessionEnded(): void {
  const [person] = localStorage.getItem(PERSON_KEY)?.split(" ") ?? [];
  sessionEnded.set(person !== undefined);
  if (person === undefined) dropForms();
  else if (account.get()) keepForms(person);
  account.set(null);
}

/** Called when the reader signs out: nothing of theirs stays in the browser. */
export function clearSession(): void {
  localStorage.removeItem(PERSON_KEY);
  onSessionEnded();
}

export const SignedIn = createContext<Account | undefined>(undefined);

export function useAccount(): Account {
  const signedIn = useContext(SignedIn);
  if (signedIn === undefined) throw new Error("this page is shown to nobody who has not signed in");
  return signedIn;
}

/** The id of the workspace that the page is about; undefined on pages outside of one. */
export const WorkspaceId = createContext<string | undefined>(undefined);

export interface EnteredWorkspace extends AccountWorkspace {
  /** Whether it is the test twin, whose `id` this then is. */
  readonly isTest: boolean;
  /** The id of the live workspace: its own, unless it is the twin. */
  readonly live: bigint;
}

/** The workspace of an id, which may be that of a test twin; undefined when it is none of the reader's. */
export function findWorkspace(
  workspaces: readonly AccountWorkspace[],
  id: string | null | undefined,
): EnteredWorkspace | undefined {
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
  if (workspace === undefined) throw new Error("this page is in no workspace of the reader's");
  return workspace;
}

/** Whether the reader may do in the workspace of the page what a role may. */
export function useRole(least: Role): boolean {
  return useWorkspace().role >= RANKS[least];
}

export function useIsTest(): boolean {
  const id = useContext(WorkspaceId);
  return findWorkspace(useContext(SignedIn)?.workspaces ?? [], id)?.isTest ?? false;
}

export function useOperatorRole(least: OperatorRole): boolean {
  const { operatorRole } = useAccount();
  return operatorRole !== undefined && operatorRole >= least;
}

/** The IANA name of the workspace's time zone; undefined on pages outside of one, which go by the reader's own. */
export function useTimeZone(): string | undefined {
  const id = useContext(WorkspaceId);
  return findWorkspace(useContext(SignedIn)?.workspaces ?? [], id)?.timeZone;
}
