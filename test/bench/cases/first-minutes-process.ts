/**
 * Clients that each take the same steps again and again, one after the other, in a process of its own:
 * for a message with a journey, answers with what became of its steps.
 */
import { quantile } from "../figures.ts";
import { openHttp1 } from "../load/http1.ts";
import { CUSTOMER, customerDigits, SHIPMENT } from "../numbering.ts";

/** What clients do. */
export interface Journey {
  readonly port: number;
  /** Requests of HTTP/1.1. Their tokens of `numbering.ts` are filled in, with the shipment booked last. */
  readonly steps: readonly Uint8Array[];
  readonly clients: number;
  readonly seconds: number;
}

/** What became of each of the steps. */
export interface Journeys {
  readonly steps: readonly {
    readonly answered: number;
    readonly refused: number;
    readonly p99Ms: number;
  }[];
}

process.on("message", async (journey: Journey) => process.send!(await run(journey)));
process.on("disconnect", () => process.exit());
process.send!("ready");

async function run({ port, steps, clients, seconds }: Journey): Promise<Journeys> {
  const texts = steps.map((step) => Buffer.from(step).toString());
  const seen = steps.map(() => ({ latencies: [] as number[], refused: 0 }));
  const endMs = performance.now() + seconds * 1_000;
  let journeys = 0;

  async function travel(): Promise<void> {
    const { sends, close } = await openHttp1(port);
    while (performance.now() < endMs) {
      const customer = customerDigits(journeys++);
      let shipment = "";
      for (const [i, text] of texts.entries()) {
        const filled = text.replaceAll(CUSTOMER, customer).replaceAll(SHIPMENT, shipment);
        const sentMs = performance.now();
        const [fault, answer] = await new Promise<[string?, Buffer?]>((resolve) => {
          sends[0]!(Buffer.from(filled), (...done) => resolve(done));
        });
        seen[i]!.latencies.push(performance.now() - sentMs);
        if (fault !== undefined) seen[i]!.refused++;
        shipment ||= /"reference":"SHP-(\w+)"/.exec(answer?.toString() ?? "")?.[1] ?? "";
      }
    }
    close();
  }

  await Promise.all(Array.from({ length: clients }, travel));
  return {
    steps: seen.map(({ latencies, refused }) => ({
      answered: latencies.length,
      refused,
      p99Ms: quantile(Float64Array.from(latencies).sort(), 0.99),
    })),
  };
}
