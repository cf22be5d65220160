import type { Texts } from "../texts/en.ts";

const DIGITS = 4;
const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "", "0", "⌫"];

/** Large keys for a PIN of four digits. A keyboard works too. */
export function PinPad(props: { readonly t: Texts; readonly pin: string; readonly onEnter: (pin: string) => void }) {
  const { t, pin, onEnter } = props;
  const enter = (entered: string) => onEnter(entered.replaceAll(/\D/g, "").slice(0, DIGITS));
  return (
    <div class="field">
      <label class="label" for="pin">
        {t.pin}
      </label>
      <input
        id="pin"
        class="pin"
        // The keys below replace the phone's keyboard.
        inputMode="none"
        autocomplete="off"
        value={pin}
        onInput={(event) => enter(event.currentTarget.value)}
      />
      <div class="keys">
        {KEYS.map((key) =>
          key === "" ? (
            <span />
          ) : (
            <button
              type="button"
              aria-label={key === "⌫" ? t.deleteDigit : key}
              onClick={() => enter(key === "⌫" ? pin.slice(0, -1) : pin + key)}
            >
              {key}
            </button>
          ),
        )}
      </div>
    </div>
  );
}
