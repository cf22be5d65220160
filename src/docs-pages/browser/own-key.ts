import { PERSON_KEY } from "../../dashboard/api/person-key.ts";

/** Placeholder for a test key in examples. */
const PLACEHOLDER = "shp_test_...";
const MAX_NAME = 100;

interface Account {
  readonly email: string;
  readonly workspaces: readonly Workspace[];
}

interface Workspace {
  readonly name: string;
  readonly role: string;
  readonly suspended: boolean;
  readonly test_workspace: number | null;
}

/**
 * Offers to insert a test key into the examples if the reader is signed in and can create keys. Keys are stored as
 * hashes, so after confirmation a new key is created or the previous one is rotated. The page discards the key when the
 * reader leaves.
 */
export async function offerOwnKey(): Promise<void> {
  const placeholders = findPlaceholders();
  if (placeholders.length === 0 || localStorage.getItem(PERSON_KEY) === null) return;
  const { data } = await call<{ data: Account }>("/account/v1/account");
  const workspaces = data.workspaces.filter((it) => it.role === "admin" && !it.suspended && it.test_workspace !== null);
  if (workspaces.length === 0) return;
  placeholders[0]!.parentElement!.closest(".code")!.after(offer(workspaces, data.email, placeholders));
}

/** Returns the text nodes of examples that contain the placeholder. */
function findPlaceholders(): Text[] {
  const placeholders: Text[] = [];
  for (const example of document.querySelectorAll(".code code")) {
    const texts = document.createTreeWalker(example, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode as Text;
      if (text.data.includes(PLACEHOLDER)) placeholders.push(text);
    }
  }
  return placeholders;
}

function offer(workspaces: readonly Workspace[], email: string, placeholders: readonly Text[]) {
  const name = `Guides, for ${email}`.slice(0, MAX_NAME);
  const form = document.createElement("form");
  form.className = "own-key";
  const choice = document.createElement("select");
  choice.ariaLabel = "Workspace";
  choice.append(...workspaces.map((it) => new Option(it.name, String(it.test_workspace))));
  const button = document.createElement("button");
  button.className = "button";
  button.textContent = "Insert my test key";
  const status = document.createElement("p");
  status.role = "status";
  status.textContent = `Keys cannot be shown again. This creates the test key “${name}”, or rotates it if it exists. A rotated key stops working. The new key is shown until you leave this page.`;
  form.append(status, choice, button);

  async function putIn(): Promise<void> {
    button.disabled = true;
    try {
      const key = await takeKey(choice.value, name);
      for (const place of placeholders) place.data = place.data.replaceAll(PLACEHOLDER, key);
      choice.remove();
      button.remove();
      status.textContent = `Your key “${name}” is used in the examples on this page.`;
    } catch (error) {
      button.disabled = false;
      status.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void putIn();
  });
  return form;
}

/** Creates or rotates the key with this name. Returns its secret. */
async function takeKey(workspace: string, name: string): Promise<string> {
  const { data } = await call<{ data: Key[] }>("/v1/api_keys", { workspace });
  const before = data.find((it) => it.name === name && it.ends_at === null);
  const made = await call<{ api_key: string }>(
    before === undefined ? "/v1/api_keys" : `/v1/api_keys/${before.id}/rotate`,
    { workspace, body: before === undefined ? { name } : {} },
  );
  return made.api_key;
}

interface Key {
  readonly id: string;
  readonly name: string | null;
  readonly ends_at: string | null;
}

/**
 * Calls the service with the reader's session.
 *
 * @throws Error with the message of a refusal
 */
async function call<T>(path: string, { workspace, body }: { workspace?: string; body?: object } = {}): Promise<T> {
  const headers = new Headers(workspace === undefined ? {} : { "x-workspace": workspace });
  if (body !== undefined) headers.set("content-type", "application/json");
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  // Without `Sec-Fetch-Site`, as on plain HTTP, the service recognizes a GET of its own page by the referrer.
  const response = await fetch(path, { headers, referrerPolicy: "same-origin", ...post });
  const answer = (await response.json()) as T & { readonly message?: string };
  if (!response.ok) throw new Error(answer.message);
  return answer;
}
