import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { Field } from "./fields.tsx";
import "./combobox.css";

export interface ComboboxOption {
  readonly key: string;
  readonly label: string;
  readonly note?: string | undefined;
}

interface Props<Option extends ComboboxOption> {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly maxLength: number;
  readonly onInput: (text: string) => void;
  readonly options: readonly Option[];
  readonly choose: (option: Option) => void;
  /** Status text of the suggestions, empty while the list shows suggestions. */
  readonly status?: string;
  readonly credit?: ComponentChildren;
  readonly hint?: string;
  readonly onToggle: (isOpen: boolean) => void;
}

/**
 * A text field with suggestions: the ARIA pattern "editable combobox with list autocomplete". Arrow keys move through
 * the list, Enter chooses and Escape closes it. The typed text stays until an option is chosen.
 */
export function ComboboxField<Option extends ComboboxOption>(props: Props<Option>) {
  const { name, label, value, options, maxLength, hint } = props;
  const id = useId();
  const list = useList(props);
  useEffect(() => {
    document.getElementById(`${id}-${list.at}`)?.scrollIntoView({ block: "nearest" });
  }, [list.at]);
  return (
    <Field {...{ name, label, value, hint }}>
      {(input) => (
        <div class="combobox">
          <input
            {...input}
            type="text"
            role="combobox"
            aria-expanded={list.isShown}
            aria-controls={id}
            aria-autocomplete="list"
            aria-activedescendant={list.active && `${id}-${list.at}`}
            autoComplete="off"
            spellcheck={false}
            maxLength={maxLength}
            value={value}
            onInput={(event) => {
              props.onInput(event.currentTarget.value);
              // The list opens only for text typed now, not for text restored after a new sign-in.
              list.toggle(document.activeElement === event.currentTarget);
            }}
            onClick={() => !list.isOpen && list.toggle(true)}
            onKeyDown={list.onKeyDown}
            onBlur={() => list.isOpen && list.toggle(false)}
          />
          <Suggestions {...props} id={id} list={list} />
          <p class="visually-hidden" role="status">
            {list.isOpen && (props.status || countText(options.length))}
          </p>
        </div>
      )}
    </Field>
  );
}

type List<Option> = ReturnType<typeof useList<Option & ComboboxOption>>;

/** Tracks whether the list is open and which option is active. */
function useList<Option extends ComboboxOption>({ options, choose, onToggle }: Props<Option>) {
  const [isOpen, setOpen] = useState(false);
  const [activeKey, setActive] = useState<string>();
  const isShown = isOpen && options.length > 0;
  // Find the option by key, because new results may move it.
  const at = isShown ? options.findIndex((option) => option.key === activeKey) : -1;
  const active = options[at];
  const toggle = (open: boolean) => {
    setOpen(open);
    setActive(undefined);
    onToggle(open);
  };
  const take = (option: Option) => {
    choose(option);
    toggle(false);
  };
  const move = (step: number) => {
    if (!isOpen) return toggle(true);
    // The text field is the stop before the first and after the last option.
    const stops = options.length + 1;
    setActive(options[((at + 1 + step + stops) % stops) - 1]?.key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, isComposing } = event;
    if (isComposing || !/^(ArrowDown|ArrowUp|Enter|Escape)$/.test(key)) return;
    if (key === "Escape" && !isOpen) return;
    // Otherwise Enter would submit the form and Escape would close a dialog.
    event.preventDefault();
    event.stopPropagation();
    if (key === "ArrowDown") move(1);
    else if (key === "ArrowUp") move(-1);
    else if (key === "Enter" && active) take(active);
    else if (isOpen) toggle(false);
  };
  return { isOpen, isShown, at, active, toggle, take, onKeyDown };
}

function Suggestions<Option extends ComboboxOption>(
  props: Props<Option> & { readonly id: string; readonly list: List<Option> },
) {
  const { id, list, options, status = "", credit } = props;
  return (
    // Pressing an option does not move the focus.
    <div
      class="suggestions"
      hidden={!list.isOpen || (options.length === 0 && status === "")}
      onMouseDown={(event) => event.preventDefault()}
    >
      <ul role="listbox" id={id} aria-label="Suggestions">
        {options.map((option, n) => (
          <li
            key={option.key}
            role="option"
            id={`${id}-${n}`}
            aria-selected={n === list.at}
            onClick={() => list.take(option)}
          >
            <span>{option.label}</span>
            {option.note && <span class="minor">{option.note}</span>}
          </li>
        ))}
      </ul>
      {status !== "" && <p class="minor">{status}</p>}
      {credit && options.length > 0 && <p class="minor credit">{credit}</p>}
    </div>
  );
}

function countText(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 suggestion." : `${count} suggestions.`;
}
