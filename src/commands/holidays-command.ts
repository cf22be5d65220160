import { rename, writeFile } from "node:fs/promises";
import { Command } from "commander";
import { isObject } from "../domain/faults.ts";
import { MAX_EXCEPTIONS } from "../domain/schedule/schedule.ts";
import { readTariffFile } from "./read-tariff-file.ts";
import { CommandRefused, jsonOption, printResult, wholeNumber } from "./command.ts";

/** A date on which a schedule is closed, and the reason. */
interface Closed {
  readonly date: string;
  readonly note: string;
}

interface HolidayOptions {
  readonly schedule: string;
  readonly country: string;
  readonly state?: string;
  readonly year: number;
  readonly json: boolean;
}

export const holidaysCommand = new Command("holidays")
  .description("add the public holidays of a year to a schedule in a tariff document")
  .argument("<file>", "the tariff document (JSON), which is changed")
  .requiredOption("--schedule <name>", "the schedule")
  .requiredOption("--country <code>", "ISO 3166-1, such as DE")
  .option("--state <code>", "a state of the country, such as BE")
  .addOption(wholeNumber("--year <year>", "such as 2027", [1970, 2100]).makeOptionMandatory())
  .addOption(jsonOption())
  .action(async (file: string, options: HolidayOptions) => {
    const holidays = await publicHolidays(options);
    const document = await readTariffFile(file);
    const added = closeOn(document, options.schedule, holidays);
    // The rename is atomic, so the file is never partly written.
    await writeFile(`${file}.tmp`, `${JSON.stringify(document, null, 2)}\n`);
    await rename(`${file}.tmp`, file);
    const lines = added.map(({ date, note }) => `${date}  ${note}`);
    printResult(options.json, {
      json: { schedule: options.schedule, added },
      lines: [...lines, `${added.length} dates added to ${options.schedule}.`],
    });
  });

const DAY_MS = 86_400_000;

async function publicHolidays({ country, state, year }: HolidayOptions): Promise<Closed[]> {
  // Loaded lazily, because the holiday tables are large.
  const { default: Holidays } = await import("date-holidays");
  const known = new Holidays();
  const code = country.toUpperCase();
  const part = state?.toUpperCase();
  if (known.getCountries()[code] === undefined) {
    throw new CommandRefused(`No holidays are known for the country ${country}.`);
  }
  if (part !== undefined && known.getStates(code)?.[part] === undefined) {
    throw new CommandRefused(`No holidays are known for ${state} in ${country}.`);
  }
  const holidays = part === undefined ? new Holidays(code) : new Holidays(code, part);
  return holidays
    .getHolidays(year)
    .filter(({ type }) => type === "public")
    .flatMap(({ date, start, end, name }) =>
      Array.from({ length: Math.max(1, Math.round((+end - +start) / DAY_MS)) }, (_, i) => ({
        date: laterDate(date.slice(0, 10), i),
        note: name,
      })),
    );
}

function laterDate(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Adds the dates that a schedule does not list yet. Returns the added dates. */
function closeOn(document: unknown, name: string, holidays: readonly Closed[]): Closed[] {
  const schedules = isObject(document) ? document.schedules : undefined;
  const schedule = (Array.isArray(schedules) ? schedules : []).find(
    (each): each is { exceptions?: unknown } => isObject(each) && each.name === name,
  );
  if (schedule === undefined) throw new CommandRefused(`The document has no schedule ${name}.`);
  const exceptions: unknown[] = Array.isArray(schedule.exceptions) ? schedule.exceptions : [];
  const listed = new Set(exceptions.map((each) => (isObject(each) ? each.date : undefined)));
  const added: Closed[] = [];
  for (const holiday of holidays) {
    if (!listed.has(holiday.date)) added.push(holiday);
    listed.add(holiday.date);
  }
  const all = [...exceptions, ...added];
  if (all.length > MAX_EXCEPTIONS) {
    const text = `The schedule would have ${all.length} dates, but at most ${MAX_EXCEPTIONS} are allowed. Remove past dates.`;
    throw new CommandRefused(text);
  }
  schedule.exceptions = all;
  return added;
}
