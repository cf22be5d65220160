import type { SettingsPart } from "../routes/paths.ts";

/** Returns the sections of the settings page. Only live mode has the members section. */
export function settingsParts(isTest: boolean): readonly { readonly id: SettingsPart; readonly label: string }[] {
  return [
    { id: "workspace", label: "Workspace" },
    ...(isTest ? [] : [{ id: "members", label: "Members" } as const]),
    { id: "payments", label: "Payments" },
    { id: "tracking", label: "Tracking" },
    { id: "couriers", label: "Couriers" },
    { id: "limits", label: "Limits" },
  ];
}
