import { useState } from "preact/hooks";
import { ErrorNote } from "../inputs/error-note.tsx";
import { announceChange, transact } from "../sync/database.ts";
import { LANGUAGES, type Language } from "../texts/texts.ts";
import { NAVIGATION_APPS } from "./navigation.ts";
import { useApp } from "./state.ts";

/** Choices of the courier, which this device remembers. */
export function Settings() {
  const { state, t } = useApp();
  const [isRefused, setRefused] = useState(false);
  const share = async (isLocated: boolean) => {
    const isAllowed = !isLocated || (await isLocationAllowed());
    setRefused(!isAllowed);
    await transact("readwrite", async (tx) => tx.set("isLocated", isLocated && isAllowed));
    announceChange();
  };
  return (
    <details class="settings">
      <summary>{t.settings}</summary>
      {state.run?.wants_location && (
        <>
          <label class="check">
            <input
              type="checkbox"
              checked={state.isLocated}
              onChange={(event) => void share(event.currentTarget.checked)}
              aria-describedby="location-text"
            />
            {t.location}
          </label>
          <p id="location-text">{t.locationText}</p>
        </>
      )}
      <ErrorNote text={isRefused && t.locationRefused} />
      <label class="field">
        <span class="label">{t.navigation}</span>
        <select value={state.navigation} onChange={(event) => void store("navigation", event.currentTarget.value)}>
          {NAVIGATION_APPS.map((app) => (
            <option value={app}>{t.navigationApps[app]}</option>
          ))}
        </select>
      </label>
      <label class="field">
        <span class="label">{t.language}</span>
        <select value={state.language} onChange={(event) => void store("language", event.currentTarget.value)}>
          {(Object.keys(LANGUAGES) as Language[]).map((language) => (
            <option value={language} lang={language}>
              {LANGUAGES[language]}
            </option>
          ))}
        </select>
      </label>
    </details>
  );
}

async function store(key: "language" | "navigation", value: string): Promise<void> {
  await transact("readwrite", async (tx) => tx.set(key, value));
  announceChange();
}

/** Asks the courier for permission. Returns whether the device may share its location. */
function isLocationAllowed(): Promise<boolean> {
  return new Promise((resolve) => {
    navigator.geolocation.getCurrentPosition(
      () => resolve(true),
      ({ code, PERMISSION_DENIED }) => resolve(code !== PERMISSION_DENIED),
    );
  });
}
