import { de } from "./de.ts";
import { en, type Texts } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";

const TEXTS = { en, es, fr, de } as const;

export type Language = keyof typeof TEXTS;

/** Names of the languages in themselves. */
export const LANGUAGES: Readonly<Record<Language, string>> = {
  en: "English",
  es: "Español",
  fr: "Français",
  de: "Deutsch",
};

export function textsIn(language: Language): Texts {
  return TEXTS[language];
}

/** Returns the first known language of the given tags, such as `de-AT`. Defaults to English. */
export function chooseLanguage(tags: readonly (string | null | undefined)[]): Language {
  const languages = tags.map((tag) => tag?.slice(0, 2).toLowerCase());
  return (languages.find((it) => it !== undefined && Object.hasOwn(TEXTS, it)) as Language | undefined) ?? "en";
}
