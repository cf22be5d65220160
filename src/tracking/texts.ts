import { de } from "./texts/de.ts";
import { en, type TrackingTexts } from "./texts/en.ts";
import { es } from "./texts/es.ts";
import { fr } from "./texts/fr.ts";

/** Texts by language tag (RFC 5646). The first language is the default. */
export const TEXTS = { en, es, fr, de } satisfies Record<string, TrackingTexts>;

export type Language = keyof typeof TEXTS;
