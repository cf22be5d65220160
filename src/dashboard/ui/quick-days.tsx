import { usePlace } from "../routes/router.ts";
import { SPAN, spanOf, SPANS } from "./days.ts";
import { LinkChoice } from "./link-choice.tsx";

/** Narrows a page to days at a click. Those of the span are in the address, in place of days that were typed. */
export function QuickDays(props: {
  /** The span where the address names no days; every day when not given, and then that can be chosen too. */
  readonly usual?: string;
}) {
  const { query } = usePlace();
  const isTyped = Boolean(query.get("from")) || Boolean(query.get("to"));
  const current = isTyped ? undefined : (spanOf(query) ?? props.usual ?? "");
  const names = props.usual === undefined ? OF_LISTS : OF_REPORTS;
  const spans = names.map((name) => [name, SPANS[name]![0]] as const);
  const choices = props.usual === undefined ? [["", "Any day"] as const, ...spans] : spans;
  return <LinkChoice label="Days" name={SPAN} without={["from", "to"]} {...{ choices, current }} />;
}

/** Those of most lists; reports look further back too. */
const OF_LISTS = ["today", "yesterday", "7", "30", "month"];
const OF_REPORTS = [...OF_LISTS, "90"];
