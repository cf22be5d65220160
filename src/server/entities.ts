import { ApiKey } from "../features/api-keys/api-key.entity.ts";
import { ApiRequest } from "../features/reports/api-request.entity.ts";
import { AuditEntry } from "../features/audit/audit-entry.entity.ts";
import { BookingDay } from "../features/reports/booking-day.entity.ts";
import { BookingRollUp } from "../features/reports/booking-roll-up.entity.ts";
import { CourierLink, CourierSession } from "../features/couriers/courier-link.entity.ts";
import { CourierPlace } from "../features/shipments/courier-place.entity.ts";
import { CourierProfile } from "../features/couriers/courier.entity.ts";
import { CustomerAlias } from "../features/customers/customer-alias.entity.ts";
import { CustomerFigure } from "../features/customers/customer-figure.entity.ts";
import { CustomerRollUp } from "../features/reports/customer-roll-up.entity.ts";
import { Customer } from "../features/customers/customer.entity.ts";
import { Event } from "../features/events/event.entity.ts";
import { Feed } from "../features/events/feed.entity.ts";
import { Installation } from "../features/workspaces/installation.entity.ts";
import { Mail } from "../features/people/mail.entity.ts";
import { Membership } from "../features/people/membership.entity.ts";
import { OperatorKey } from "../features/operators/operator-key.entity.ts";
import { OperatorStoredResponse } from "../features/idempotency/operator-stored-response.entity.ts";
import { Operator } from "../features/operators/operator.entity.ts";
import { PaymentConnection } from "../features/workspaces/payment-connection.entity.ts";
import { Payment } from "../features/payments/payment.entity.ts";
import { Person } from "../features/people/person.entity.ts";
import { ProofPicture } from "../features/shipments/proof-picture.entity.ts";
import { StoredProviderEvent } from "../features/payments/provider-event.entity.ts";
import { ProviderPayment } from "../features/payments/provider-payment.entity.ts";
import { QuoteKey } from "../features/quotes/quote-key.entity.ts";
import { RecipientMail } from "../features/shipments/recipient-mail.entity.ts";
import { RecipientOptOut } from "../features/recipients/recipient-opt-out.entity.ts";
import { Replica } from "../features/reports/replica.entity.ts";
import { SavedFilter } from "../features/people/saved-filter.entity.ts";
import { Session } from "../features/people/session.entity.ts";
import { Shipment } from "../features/shipments/shipment.entity.ts";
import { SignInLink, SpentAttempt } from "../features/people/sign-in-link.entity.ts";
import { Simulation } from "../features/shipments/simulation.entity.ts";
import { Slot, SlotReservation } from "../features/slots/slot.entity.ts";
import { StoredResponse } from "../features/idempotency/stored-response.entity.ts";
import { TariffDraft, TariffDraftChunk } from "../features/tariffs/drafts/tariff-draft.entity.ts";
import { TariffVersion } from "../features/tariffs/versions/tariff.entity.ts";
import { TestClock } from "../features/workspaces/test-clock.entity.ts";
import { UsageHour } from "../features/reports/usage-hour.entity.ts";
import { UsedQuote } from "../features/quotes/used-quote.entity.ts";
import { WebhookAttempt } from "../features/webhooks/webhook-attempt.entity.ts";
import { WebhookDelivery } from "../features/webhooks/webhook-delivery.entity.ts";
import { WebhookLease } from "../features/webhooks/webhook-lease.entity.ts";
import { Webhook } from "../features/webhooks/webhook.entity.ts";
import { WorkspaceLimit } from "../features/workspaces/workspace-limit.entity.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";

/** The entities of all features. `npm run migration:create` writes this list. */
export const ENTITIES = [
  ApiKey,
  ApiRequest,
  AuditEntry,
  BookingDay,
  BookingRollUp,
  CourierLink,
  CourierSession,
  CourierPlace,
  CourierProfile,
  CustomerAlias,
  CustomerFigure,
  CustomerRollUp,
  Customer,
  Event,
  Feed,
  Installation,
  Mail,
  Membership,
  OperatorKey,
  OperatorStoredResponse,
  Operator,
  PaymentConnection,
  Payment,
  Person,
  ProofPicture,
  StoredProviderEvent,
  ProviderPayment,
  QuoteKey,
  RecipientMail,
  RecipientOptOut,
  Replica,
  SavedFilter,
  Session,
  Shipment,
  SignInLink,
  SpentAttempt,
  Simulation,
  Slot,
  SlotReservation,
  StoredResponse,
  TariffDraft,
  TariffDraftChunk,
  TariffVersion,
  TestClock,
  UsageHour,
  UsedQuote,
  WebhookAttempt,
  WebhookDelivery,
  WebhookLease,
  Webhook,
  WorkspaceLimit,
  Workspace,
];
