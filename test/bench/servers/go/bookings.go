package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
)

// Statements shared with the other benchmark servers, by name. pgx prepares each once per connection.
var sql = map[string]string{}

// API key of each workspace, as events store it.
var callerKeys = map[int64]string{}

// Columns of a shipment and its customer, in the order of scan.
const columns = `s.reference, s.status, s.payment_status, s.pickup_address, s.pickup_lat, s.pickup_lng,
  s.dropoff_address, s.dropoff_lat, s.dropoff_lng, s.weight_kg, s.distance_km, s.distance_fee_minor,
  s.weight_fee_minor, s.base_fee_minor, s.subtotal_minor, s.total_minor, s.currency, s.metadata,
  s.created_at, s.updated_at, s.cancelled_at, s.version, s.package_count, s.dropoff_handover,
  s.if_undeliverable, s.customer_id`

const pageSize = 25
const referenceCharacters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

type customer struct {
	id          int64
	name, email string
	idNumber    *string
}

type shipment struct {
	route
	price
	customer
	reference, status, paymentStatus, pickupAddress, dropoffAddress, currency string
	metadata                                                                  map[string]string
	createdAt, updatedAt                                                      time.Time
	cancelledAt                                                               *time.Time
	version                                                                   int64
	packageCount                                                              int
	dropoffHandover, ifUndeliverable                                          string
}

type booking struct {
	route
	CustomerName   string `json:"customer_name"`
	CustomerEmail  string `json:"customer_email"`
	PickupAddress  string `json:"pickup_address"`
	DropoffAddress string `json:"dropoff_address"`
}

type store struct {
	pool    *pgxpool.Pool
	pricing *pricing
}

func openStore(ctx context.Context) (*store, error) {
	if err := json.Unmarshal([]byte(os.Getenv("SQL")), &sql); err != nil {
		return nil, err
	}
	for _, name := range []string{"getShipment", "listShipments"} {
		sql[name] = strings.Replace(sql[name], "s.*", columns, 1)
	}
	sql["insertShipment"] = strings.Replace(sql["insertShipment"], "returning *", "", 1)
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	// The product uses the same number.
	config.MaxConns = 20
	pool, err := pgxpool.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	var document []byte
	if err := pool.QueryRow(ctx, "select document from tariff_version").Scan(&document); err != nil {
		return nil, err
	}
	pricing, err := parsePricing(document)
	return &store{pool, pricing}, err
}

func (st *store) get(ctx context.Context, workspace int64, reference string) (*shipment, error) {
	return scan(st.pool.QueryRow(ctx, sql["getShipment"], workspace, reference))
}

// Returns the newest shipments: up to one more than the page size, which shows that more follow.
func (st *store) list(ctx context.Context, workspace int64) ([]*shipment, error) {
	rows, err := st.pool.Query(ctx, sql["listShipments"], workspace, pageSize+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []*shipment
	for rows.Next() {
		s, err := scan(rows)
		if err != nil {
			return nil, err
		}
		page = append(page, s)
	}
	return page, rows.Err()
}

func scan(row pgx.Row) (*shipment, error) {
	s := &shipment{}
	err := row.Scan(&s.reference, &s.status, &s.paymentStatus, &s.pickupAddress, &s.PickupLat, &s.PickupLng,
		&s.dropoffAddress, &s.DropoffLat, &s.DropoffLng, &s.WeightKg, &s.distanceKm, &s.distanceMinor,
		&s.weightMinor, &s.baseMinor, &s.subtotal, &s.total, &s.currency, &s.metadata,
		&s.createdAt, &s.updatedAt, &s.cancelledAt, &s.version, &s.packageCount,
		&s.dropoffHandover, &s.ifUndeliverable, &s.customer.id,
		&s.customer.name, &s.customer.email, &s.customer.idNumber)
	return s, err
}

func (st *store) book(ctx context.Context, workspace int64, b booking) (*shipment, error) {
	tx, err := st.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	var tariff int64
	var provider string
	if err := tx.QueryRow(ctx, sql["inForce"], workspace).Scan(&tariff, &provider); err != nil {
		return nil, err
	}
	s := &shipment{route: b.route, status: "pending", paymentStatus: "awaiting_payment",
		pickupAddress: strings.TrimSpace(b.PickupAddress), dropoffAddress: strings.TrimSpace(b.DropoffAddress),
		currency: st.pricing.currency, metadata: map[string]string{}, version: 1, packageCount: 1,
		dropoffHandover: "meet", ifUndeliverable: "return"}
	s.createdAt = time.Now().UTC().Truncate(time.Millisecond)
	s.updatedAt = s.createdAt
	if s.price, err = st.pricing.price(b.route); err != nil {
		return nil, err
	}
	name, email := strings.TrimSpace(b.CustomerName), strings.TrimSpace(b.CustomerEmail)
	link := func() error {
		return tx.QueryRow(ctx, sql["linkCustomer"], workspace, name, strings.ToLower(email), email, s.createdAt).
			Scan(&s.customer.id, &s.customer.name, &s.customer.email, &s.customer.idNumber)
	}
	// If another transaction created this customer concurrently, the next statement finds it.
	if err = link(); err == pgx.ErrNoRows {
		err = link()
	}
	if err != nil {
		return nil, err
	}
	s.reference = createReference()
	if _, err := tx.Exec(ctx, sql["insertShipment"], workspace, s.reference, s.customer.id, s.pickupAddress,
		s.PickupLat, s.PickupLng, s.dropoffAddress, s.DropoffLat, s.DropoffLng, s.WeightKg, s.distanceKm,
		s.distanceMinor, s.weightMinor, s.baseMinor, s.subtotal, s.total, s.currency, tariff, s.createdAt,
		st.pricing.zoneAt(b.DropoffLat, b.DropoffLng).name); err != nil {
		return nil, err
	}
	data, err := json.Marshal(st.eventData(s))
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, sql["insertEvents"], workspace, s.reference, []string{"shipment.created"}, 1,
		string(data), s.createdAt, callerKeys[workspace]); err != nil {
		return nil, err
	}
	return s, tx.Commit(ctx)
}

func createReference() string {
	random := make([]byte, 12)
	rand.Read(random)
	for i, value := range random {
		random[i] = referenceCharacters[value%32]
	}
	return "SHP-" + string(random)
}

type eventCustomer struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Email    string  `json:"email"`
	IDNumber *string `json:"idNumber,omitempty"`
}

// Returns a shipment as protobuf JSON, as in the product's events.
type eventData struct {
	Reference           string        `json:"reference"`
	PickupAddress       string        `json:"pickupAddress"`
	PickupLat           float64       `json:"pickupLat"`
	PickupLng           float64       `json:"pickupLng"`
	DropoffAddress      string        `json:"dropoffAddress"`
	DropoffLat          float64       `json:"dropoffLat"`
	DropoffLng          float64       `json:"dropoffLng"`
	WeightKg            float64       `json:"weightKg"`
	DistanceKm          float64       `json:"distanceKm"`
	DistanceFee         float64       `json:"distanceFee"`
	WeightFee           float64       `json:"weightFee"`
	BaseFee             float64       `json:"baseFee"`
	Subtotal            float64       `json:"subtotal"`
	Total               float64       `json:"total"`
	Currency            string        `json:"currency"`
	Etag                string        `json:"etag"`
	Breakdown           []line        `json:"breakdown"`
	Status              string        `json:"status"`
	PaymentStatus       string        `json:"paymentStatus"`
	Customer            eventCustomer `json:"customer"`
	DropoffVerification string        `json:"dropoffVerification"`
	DropoffHandover     string        `json:"dropoffHandover"`
	IfUndeliverable     string        `json:"ifUndeliverable"`
	PackageCount        int           `json:"packageCount"`
	CreatedAt           string        `json:"createdAt"`
	UpdatedAt           string        `json:"updatedAt"`
}

func (st *store) eventData(s *shipment) eventData {
	lines := st.pricing.breakDown(s.WeightKg, s.price)
	for i := range lines {
		lines[i].Kind = "QUOTE_LINE_KIND_" + strings.ToUpper(lines[i].Kind)
		lines[i].Unit = "QUOTE_LINE_UNIT_" + strings.ToUpper(lines[i].Unit)
	}
	return eventData{s.reference, s.pickupAddress, s.PickupLat, s.PickupLng, s.dropoffAddress, s.DropoffLat,
		s.DropoffLng, s.WeightKg, s.distanceKm, toDollars(s.distanceMinor), toDollars(s.weightMinor),
		toDollars(s.baseMinor), toDollars(s.subtotal), toDollars(s.total), s.currency, itoa(s.version), lines,
		"SHIPMENT_STATUS_" + strings.ToUpper(s.status), "PAYMENT_STATUS_" + strings.ToUpper(s.paymentStatus),
		eventCustomer{itoa(s.customer.id), s.customer.name, s.customer.email, s.customer.idNumber},
		"DROPOFF_VERIFICATION_NONE", "DROPOFF_HANDOVER_" + strings.ToUpper(s.dropoffHandover),
		"UNDELIVERABLE_ACTION_" + strings.ToUpper(s.ifUndeliverable), s.packageCount, timeText(s.createdAt), timeText(s.updatedAt)}
}

func timeText(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
