/**
 * Texts for the service's actions: a label for the filter, and a sentence without the actor. `{it}`
 * stands for the changed record, `{fields}` for the changed properties.
 */
const ACTS: Readonly<Record<string, readonly [choice: string, sentence: string]>> = {
  CreateOperator: ["Operator added", "added {it}"],
  UpdateOperator: ["Operator changed", "changed {fields} of {it}"],
  RevokeOperator: ["Operator revoked", "revoked {it}"],
  CreateOperatorKey: ["Operator key created", "created a key for {it}"],
  RotateOperatorKey: ["Operator key replaced", "replaced a key of {it}"],
  RevokeOperatorKey: ["Operator key revoked", "revoked a key of {it}"],
  CreateOperatorSignInLink: ["Operator sign-in link created", "created a sign-in link for {it}"],
  CreateWorkspace: ["Workspace created", "created {it}"],
  RenameWorkspace: ["Workspace renamed", "renamed {it}"],
  UpdateWorkspace: ["Workspace changed", "changed {fields} of {it}"],
  RotateTrackingLinks: ["Tracking links replaced", "replaced the tracking links of {it}"],
  UpdateWorkspaceTimeZone: ["Time zone changed by an operator", "changed {fields} of {it}"],
  SuspendWorkspace: ["Workspace suspended", "suspended {it}"],
  ResumeWorkspace: ["Workspace resumed", "resumed {it}"],
  UpdateWorkspaceLimits: ["Limits changed", "changed the limits of {it}"],
  ConnectPaymentProvider: ["Payment provider connected by an operator", "connected a payment provider to {it}"],
  DisconnectPaymentProvider: [
    "Payment provider disconnected by an operator",
    "disconnected the payment provider of {it}",
  ],
  BeginPaymentConnection: ["Stripe account connected", "connected a Stripe account to {it}"],
  SetPaymentKey: ["Stripe key set", "set the Stripe key of {it}"],
  CheckPaymentConnection: ["Stripe account checked", "checked the Stripe account of {it}, which had changed"],
  DisconnectPaymentConnection: ["Payment provider disconnected", "disconnected the payment provider of {it}"],
  CreateWorkspaceApiKey: ["API key created by an operator", "created {it}"],
  UpdateWorkspaceApiKey: ["API key changed by an operator", "changed {fields} of {it}"],
  RotateWorkspaceApiKeys: ["API keys replaced by an operator", "replaced all keys of {it}"],
  RevokeWorkspaceApiKey: ["API key revoked by an operator", "revoked {it}"],
  CreateApiKey: ["API key created", "created {it}"],
  UpdateApiKey: ["API key changed", "changed {fields} of {it}"],
  RotateApiKey: ["API key replaced", "replaced {it}"],
  RevokeApiKey: ["API key revoked", "revoked {it}"],
  InviteWorkspaceMember: ["Member invited by an operator", "invited {it}"],
  InviteMember: ["Member invited", "invited {it}"],
  UpdateMember: ["Member’s role changed", "changed {fields} of {it}"],
  RemoveMember: ["Member removed", "removed {it}"],
  MergeCustomers: ["Customers merged", "merged another customer into {it}"],
  CreateTariffDraft: ["Draft created", "created {it}"],
  UpdateTariffDraft: ["Draft changed", "changed {fields} of {it}"],
  DeleteTariffDraft: ["Draft deleted", "deleted {it}"],
  UploadTariffZones: ["Zones imported", "imported zones into {it}"],
  PublishTariff: ["Tariff published", "published {it}"],
  RollBackTariff: ["Tariff rolled back", "rolled the tariff back, creating {it}"],
  CallOffTariff: ["Scheduled tariff cancelled", "cancelled {it}"],
  SetSlotCapacity: ["Slot capacity changed", "changed {fields} of {it}"],
  WaiveVerification: ["Verification waived", "waived the verification of {it}"],
  AcceptUncountedPayment: ["Unassigned payment accepted", "accepted an unassigned payment of {it}"],
  ChangeInstructions: ["Instructions changed by the recipient", "changed the dropoff instructions of {it}"],
  CreateCourier: ["Courier created", "created {it}"],
  UpdateCourier: ["Courier changed", "changed {fields} of {it}"],
  ArchiveCourier: ["Courier archived", "archived {it}"],
  CreateCourierLink: ["Courier’s link created", "created a link for {it}"],
  RevokeCourierLink: ["Courier’s link revoked", "revoked a link of {it}"],
  OpenCourierLink: ["Courier’s link opened", "opened a link of {it}"],
  SignIn: ["Signed in with another person’s link", "signed in with a link that another person created"],
};

/** All actions with their labels, in alphabetical order of the labels. */
export const ACTIONS: readonly (readonly [action: string, choice: string])[] = Object.entries(ACTS)
  .map(([action, [choice]]) => [action, choice] as const)
  .toSorted(([, a], [, b]) => a.localeCompare(b));

export interface ChangedField {
  readonly field: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/**
 * Describes an action as the text before and after the record. For example, `renamed ` and an empty
 * text. Unknown actions, from a newer service, use their API name.
 */
export function actWords(action: string, changes: readonly ChangedField[]) {
  const [, sentence] = ACTS[action] ?? [action, `performed ${action} on {it}`];
  const [before = "", after] = sentence.replace("{fields}", fieldsWords(changes)).split("{it}");
  return [before, after] as const;
}

/**
 * Describes the changed fields: `the name and the role`, `something` if none is known, or `much` if
 * there are more than three.
 */
function fieldsWords(changes: readonly ChangedField[]): string {
  if (changes.length === 0) return "something";
  if (changes.length > 3) return "much";
  const words = changes.map(({ field }) => `the ${lowerCase(fieldWords(field))}`);
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

const KINDS: Readonly<Record<string, string>> = {
  workspace: "workspace",
  api_key: "key",
  person: "member",
  operator: "operator",
  tariff_draft: "draft",
  tariff_version: "version",
};

/**
 * Describes a record: `workspace/12` becomes "workspace 12", or "the key “Shop”" if its name is known.
 *
 * @param subject kind, slash and ID
 * @param subjectName current name, if the service knows it
 */
export function subjectWords(subject: string, changes: readonly ChangedField[] = [], subjectName?: string): string {
  const [kind = "", id = ""] = subject.split("/");
  const words = KINDS[kind] ?? kind.replaceAll("_", " ");
  const named = changes.find(({ field }) => field === "name");
  const name = named?.before ?? named?.after;
  if (name) return `the ${words} “${name}”`;
  if (subjectName) return `the ${words} ${subjectName}`;
  if (kind === "tariff_version") return `version ${id} of the tariff`;
  return `${words} ${id}`.trim();
}

/** Splits the change of a list or object into changes at paths such as `tiers.2.max_kg`. */
export function partsOf({ field, before, after }: ChangedField): readonly ChangedField[] {
  const [was, is] = [leavesOf(field, before), leavesOf(field, after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((name) => ({ field: name, before: was.get(name), after: is.get(name) }))
    .filter((part) => part.before !== part.after);
}

function leavesOf(name: string, text: string | undefined): ReadonlyMap<string, string> {
  if (text === undefined) return new Map();
  const value = valueOf(text);
  if (typeof value === "string") return new Map([[name, value]]);
  return new Map(
    Object.entries(value).flatMap(([key, part]: [string, unknown]) => {
      const own = Array.isArray(value) ? Number(key) + 1 : key;
      const partText = typeof part === "string" ? part : JSON.stringify(part);
      return [...leavesOf(`${name}.${own}`, partText)];
    }),
  );
}

/** Parses a list or an object. Other texts are returned unchanged, such as a name that begins with a bracket. */
function valueOf(text: string): string | object {
  try {
    return /^[[{]/.test(text) ? (JSON.parse(text) as object) : text;
  } catch {
    return text;
  }
}

/** Labels of properties whose API names are unclear. */
const FIELDS: Readonly<Record<string, string>> = {
  ends_at: "End",
  last4: "Last four characters",
  suspended_at: "Suspended since",
  revoked_at: "Revoked since",
  zones_hash: "Zones",
};

export function fieldWords(name: string): string {
  if (FIELDS[name] !== undefined) return FIELDS[name];
  const words = name.replaceAll(/[_./]/g, " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace(/^Api\b/, "API");
}

function lowerCase(words: string): string {
  return /^API\b/.test(words) ? words : `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}
