import { useEffect, useMemo, useState } from "preact/hooks";
import type { Customer } from "../../../gen/shipments/v1/customer_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { CreateShipmentRequestSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { BookingBlocker, WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import type { Problem } from "../api/problem.ts";
import { useRole, useWorkspace } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { BookingBlockers } from "../workspaces/booking-blockers.tsx";
import { type CustomerChoice, CustomerFields, customerOf, withChoiceOfCustomer } from "./customer-fields.tsx";
import { Form } from "../ui/form.tsx";
import { textOf } from "../ui/form-data.ts";
import { moneyText, recordIdOf } from "../ui/format.ts";
import { QueryView, Spinner, Page, Section } from "../ui/page.tsx";
import { RecordFields, recordOf } from "./record-fields.tsx";
import { metadataOf } from "./record-rows.tsx";
import { Quote, type QuoteQuery, TimesSection, useQuote } from "./quote.tsx";
import { RouteFields } from "./route-fields.tsx";
import { outsideOf, ROUTE_FIELDS, routeOf, type RouteText } from "./route.ts";
import { useWindows, type Windows, windowsOf } from "./use-windows.ts";
import { isOfWindows } from "./windows.ts";
import { toast, useShown } from "../ui/toast.tsx";
import { paths } from "../routes/paths.ts";
import { changeQuery, navigate, useLocation } from "../routes/router.ts";
import "./shipments.css";

/** Prices a route. Members can also book it. The URL holds the route and the customer. */
export function BookPage() {
  const query = useRpc(WorkspaceService.method.getWorkspace, {});
  const mayBook = useRole("member");
  return (
    <Page title={mayBook ? "Quote and book" : "Quote"}>
      <QueryView query={query}>
        {({ data }) => {
          const blockers = data?.bookingBlockers ?? [];
          const hasTariff = !blockers.includes(BookingBlocker.TARIFF);
          const hasSearch = data?.addressSearch === true;
          return (
            <div class="stack">
              {mayBook && <BookingBlockers blockers={blockers} />}
              {mayBook && blockers.length === 0 ? (
                <Booking hasSearch={hasSearch} />
              ) : (
                <QuoteOnly hasTariff={hasTariff} hasSearch={hasSearch} />
              )}
            </div>
          );
        }}
      </QueryView>
    </Page>
  );
}

interface SearchProps {
  readonly hasSearch: boolean;
}

function useRoute() {
  const { query } = useLocation();
  const [route, setRoute] = useState(
    () => Object.fromEntries(ROUTE_FIELDS.map((name) => [name, query.get(name) ?? ""])) as RouteText,
  );
  const change = (changes: Partial<RouteText>) => {
    setRoute((before) => ({ ...before, ...changes }));
    changeQuery(changes, { replace: true });
  };
  return { route, change };
}

function QuoteOnly({ hasTariff, hasSearch }: SearchProps & { readonly hasTariff: boolean }) {
  const { route, change } = useRoute();
  const windows = useWindows(route, { isWanted: hasTariff });
  const quote = useQuote(route, windows, hasTariff);
  return (
    <div class="booking">
      <div class="columns">
        <Section title="Route">
          <div class="form">
            <RouteFields {...{ route, change, hasSearch }} outside={outsideOf(quote.data)} />
          </div>
        </Section>
        <TimesSection {...{ route, windows, quote }} />
      </div>
      <div class="page-bar">
        <Quote query={quote} windows={windows} />
      </div>
    </div>
  );
}

function Booking({ hasSearch }: SearchProps) {
  const { query } = useLocation();
  // The URL sets the customer only initially. Later it follows the customer chosen in the form.
  const [id] = useState(() => recordIdOf(query.get("customer") ?? ""));
  const named = useRpc(CustomerService.method.getCustomer, id === undefined ? undefined : { customer: id });
  if (id !== undefined && named.isLoading && named.data === undefined) {
    return <Spinner label="Loading the customer" />;
  }
  return <BookingForm customer={named.data?.data} hasSearch={hasSearch} />;
}

function BookingForm({ customer, hasSearch }: SearchProps & { readonly customer: Customer | undefined }) {
  const { route, change } = useRoute();
  const windows = useWindows(route);
  const quote = useQuote(route, windows);
  const [choice, setChoice] = useState<CustomerChoice>({ kind: "existing", customer });
  const choose = (next: CustomerChoice) => {
    setChoice(next);
    const chosen = next.kind === "existing" ? next.customer : undefined;
    changeQuery({ customer: chosen && String(chosen.id) }, { replace: true });
  };
  const customerId = choice.kind === "existing" ? choice.customer?.id : undefined;
  const book = useBooking({ route, windows, choice, quote });
  const price = quote.data?.covered ? ` for ${moneyText(quote.data.total, quote.data.currency)}` : "";
  return (
    <div class="booking">
      <Form action={book} name="book" submit={`Book${price}`} bar={<Quote query={quote} windows={windows} />}>
        <div class="columns">
          <Section title="Route">
            <div class="form">
              <RouteFields {...{ route, change, hasSearch }} customer={customerId} outside={outsideOf(quote.data)} />
            </div>
          </Section>
          <div>
            <Section title="Who">
              <div class="form">
                <CustomerFields choice={choice} choose={choose} />
                <RecordFields request={CreateShipmentRequestSchema} />
              </div>
            </Section>
            <TimesSection {...{ route, windows, quote }} />
          </div>
        </div>
      </Form>
    </div>
  );
}

/** Books the form's shipment once, at the displayed price, and opens its page. */
function useBooking(props: {
  readonly route: RouteText;
  readonly windows: Windows;
  readonly choice: CustomerChoice;
  readonly quote: QuoteQuery;
}) {
  const { route, windows, choice, quote } = props;
  const { id: workspace } = useWorkspace();
  const shipments = useClient(ShipmentService);
  const once = useIdempotencyOptions();
  const { isShown, noteError } = useShown("Book");
  const book = useAction(async (form: FormData) => {
    const request = {
      ...customerOf(choice, form),
      ...routeOf(route),
      ...windowsOf(windows),
      pickupAddress: textOf(form, "pickup_address"),
      dropoffAddress: textOf(form, "dropoff_address"),
      ...recordOf(CreateShipmentRequestSchema, form),
      metadata: metadataOf(form),
      quoteId: quote.data?.id,
      // Only a displayed price can be booked. The service always refuses a total of 0.
      expectedTotal: quote.data?.total ?? 0,
      expectedCurrency: quote.data?.currency,
    };
    const { data } = await shipments.createShipment(request, once).catch(noteError);
    toast("Shipment booked.");
    if (isShown.current) navigate(paths.shipment({ workspace, reference: data!.reference }));
  });
  const { problem: refused } = book;
  useEffect(() => {
    if (refused === undefined) return;
    if (isOfPrice(refused) || isOfWindows(refused)) quote.reload();
    if (isOfWindows(refused)) windows.reload();
  }, [refused]);
  const problem = useMemo(
    () => refused && withChoiceOfCustomer(bookingProblem(windows.reword(refused)), choice),
    [refused],
  );
  return { ...book, problem };
}

/** Refusal reasons for a changed or expired price. These refusals include the current price. */
const PRICE_REASONS: readonly string[] = ["PRICE_CHANGED", "QUOTE_EXPIRED", "QUOTE_VOID"];
/** Refusal reasons for a quote that cannot be booked. */
const QUOTE_REASONS: readonly string[] = ["QUOTE_MISMATCH", "QUOTE_UNKNOWN", "QUOTE_USED"];

function isOfPrice({ reason = "" }: Problem): boolean {
  return PRICE_REASONS.includes(reason) || QUOTE_REASONS.includes(reason);
}

/** Rewords refusals about the quote, which the user did not type. */
function bookingProblem(problem: Problem): Problem {
  const { reason = "" } = problem;
  const { total, currency } = problem.facts;
  if (PRICE_REASONS.includes(reason) && total !== undefined && currency !== undefined) {
    const price = moneyText(Number(total), currency);
    const message = `The price has changed to ${price}. Book again to accept it.`;
    return { ...problem, message, fields: {} };
  }
  if (QUOTE_REASONS.includes(reason) && problem.facts.shipment === undefined) {
    const message = "The price has changed. Check it and book again.";
    return { ...problem, message, fields: {} };
  }
  if (reason === "IDEMPOTENCY_KEY_REUSED") {
    const message =
      "This form was already booked. Find the shipment under Shipments. Reload this page to book another.";
    return { ...problem, message, fields: {} };
  }
  return problem;
}
