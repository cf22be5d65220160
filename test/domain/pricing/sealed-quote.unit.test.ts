import fc from "fast-check";
import { expect, test } from "vitest";
import { openQuote, sealQuote, toQuoteKey, type QuoteTerms } from "../../../src/domain/pricing/sealed-quote.ts";

const [KEY, OTHER] = [toQuoteKey(7, Buffer.alloc(32, 1)), toQuoteKey(8, Buffer.alloc(32, 2))];
const open = (id: string) => openQuote(id, (key) => (key === KEY.id ? KEY : undefined));

const QUOTE: QuoteTerms = {
  workspace: 12,
  route: {
    pickup: { lat: 40.758, lng: -73.9855 },
    dropoff: { lat: 40.6782, lng: -73.9442 },
    weightKg: 2.5,
  },
  pickupWindow: undefined,
  dropoffWindow: undefined,
  tariffVersion: 3,
  expiresAtMs: 1_795_377_264_206,
};

const double = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const timeMs = fc.nat({ max: 2 ** 47 });
const window = fc.option(fc.record({ startMs: timeMs, endMs: timeMs, feeMinor: timeMs }), {
  nil: undefined,
});
const point = fc.record({ lat: double(-90, 90), lng: double(-180, 180) });

test("an opened quote equals the sealed one exactly, and its id has at most 255 characters", () => {
  fc.assert(
    fc.property(
      fc.record({
        workspace: fc.nat({ max: 2 ** 53 - 1 }),
        route: fc.record({ pickup: point, dropoff: point, weightKg: double(0.01, 1e300) }),
        pickupWindow: window,
        dropoffWindow: window,
        tariffVersion: fc.nat({ max: 2 ** 31 - 1 }),
        expiresAtMs: timeMs,
      }),
      (quote) => {
        const id = sealQuote(quote, KEY);
        expect(id).toMatch(/^quo_[A-Za-z0-9_-]{122,170}$/);
        expect(open(id)).toEqual(quote);
      },
    ),
  );
});

test("ids of the same quote differ", () => {
  const ids = Array.from({ length: 2_000 }, () => sealQuote(QUOTE, KEY));
  expect(new Set(ids)).toHaveLength(ids.length);
});

test("an id does not open with another key, or with its key under another id", () => {
  const id = sealQuote(QUOTE, OTHER);
  expect(open(id)).toBeUndefined();
  expect(openQuote(id, () => KEY)).toBeUndefined();
  expect(openQuote(id, () => OTHER)).toEqual(QUOTE);
});

const WINDOW = { startMs: 1, endMs: 2, feeMinor: 3 };
/** An id that contains both `-` and `_`. */
const ID = ids().find((id) => id.includes("-") && id.indexOf("_", 4) > 0)!;

function* ids() {
  for (;;) yield sealQuote({ ...QUOTE, pickupWindow: WINDOW, dropoffWindow: WINDOW }, KEY);
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

test("an id with any changed character does not open", () => {
  for (let at = 0; at < ID.length; at++) {
    for (const other of `${ALPHABET}+/=! \u0000é`) {
      const changed = ID.slice(0, at) + other + ID.slice(at + 1);
      if (changed !== ID && open(changed) !== undefined) expect.fail(`${changed} opens`);
    }
  }
});

test("an id that is cut or extended anywhere does not open", () => {
  for (let at = 1; at < ID.length; at++) {
    const [before, after] = [ID.slice(0, at), ID.slice(at)];
    for (const changed of [before, after, before + after.slice(1)]) {
      expect(open(changed), changed).toBeUndefined();
    }
    for (const more of ["A", "AAAA", "\n", "=", "%"]) {
      expect(open(before + more + after), `${more} at ${at}`).toBeUndefined();
    }
  }
  expect(open("quo_")).toBeUndefined();
});

test("an id has only one valid spelling", () => {
  const body = ID.slice(4);
  const plain = body.replaceAll("-", "+").replaceAll("_", "/");
  const lastBits = ALPHABET[ALPHABET.indexOf(ID.at(-1)!) + 1]!;
  const spellings = [
    `quo_${plain}`,
    `quo_${plain}==`,
    `${ID}=`,
    `${ID}==`,
    `${ID}A`,
    `${ID}\n`,
    ` ${ID}`,
    `${ID.slice(0, -1)}${lastBits}`,
    `QUO_${body}`,
    body,
    `quo_${Buffer.from(body, "base64url").toString("hex")}`,
    encodeURIComponent(plain),
  ];
  for (const spelling of spellings) expect(open(spelling), spelling).toBeUndefined();
  expect(open(ID)).toMatchObject({ workspace: 12 });
});
