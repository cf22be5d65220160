import "./style.css";
import { addCopyButtons } from "./copy-buttons.ts";
import { startSearch } from "./search.ts";
import { skipNarrow } from "./skip-narrow.ts";

addCopyButtons();
skipNarrow();
startSearch();
