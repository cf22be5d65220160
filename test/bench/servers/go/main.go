// Benchmark server in Go with net/http and pgx. It runs the same SQL statements as the other benchmark servers. The
// environment variables DATABASE_URL, ACCOUNTS and SQL are required. It prints its port and exits at the end of input.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v4"
)

const one = "/v1/shipments/"
const maxBody = 64 * 1024

func main() {
	st, err := openStore(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var accounts []struct {
		APIKey    string `json:"apiKey"`
		Workspace int64  `json:"workspace"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("ACCOUNTS")), &accounts); err != nil {
		log.Fatal(err)
	}
	workspaces := map[[sha256.Size]byte]int64{}
	for _, it := range accounts {
		workspaces[sha256.Sum256([]byte(it.APIKey))] = it.Workspace
		callerKeys[it.Workspace] = `{"last4":"` + it.APIKey[len(it.APIKey)-4:] + `","name":null}`
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		workspace, isKnown := workspaces[sha256.Sum256([]byte(key))]
		if !isKnown {
			refuse(w, http.StatusUnauthorized, "The credential is unknown.")
			return
		}
		st.serve(w, r, workspace)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() { log.Fatal(http.Serve(listener, nil)) }()
	io.Copy(io.Discard, os.Stdin)
}

func (st *store) serve(w http.ResponseWriter, r *http.Request, workspace int64) {
	switch path := r.URL.Path; {
	case r.Method == "POST" && path == "/v1/shipments/quote":
		var asked route
		if !read(w, r, &asked) || !check(w, asked.isValid()) {
			return
		}
		priced, err := st.pricing.price(asked)
		send(w, http.StatusOK, quoteBody{Covered: true, fees: st.feesOf(priced)}, err)
	case r.Method == "POST" && path == "/v1/shipments":
		var asked booking
		if !read(w, r, &asked) || !check(w, asked.isValid()) {
			return
		}
		s, err := st.book(r.Context(), workspace, asked)
		send(w, http.StatusCreated, data{st.bodyOf(s)}, err)
	case r.Method == "GET" && path == "/v1/shipments":
		shipments, err := st.list(r.Context(), workspace)
		send(w, http.StatusOK, st.pageOf(shipments), err)
	case r.Method == "GET" && strings.HasPrefix(path, one):
		s, err := st.get(r.Context(), workspace, path[len(one):])
		send(w, http.StatusOK, data{st.bodyOf(s)}, err)
	default:
		refuse(w, http.StatusNotFound, "There is no such method.")
	}
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return false
	}
	return true
}

func check(w http.ResponseWriter, isValid bool) bool {
	if !isValid {
		refuse(w, http.StatusBadRequest, "The request is not valid.")
	}
	return isValid
}

func (r route) isValid() bool {
	within := func(value, most float64) bool { return -most <= value && value <= most }
	return within(r.PickupLat, 90) && within(r.DropoffLat, 90) && within(r.PickupLng, 180) &&
		within(r.DropoffLng, 180) && r.WeightKg >= 0.01
}

func (b booking) isValid() bool {
	fits := func(text string, most int) bool { return text != "" && len(text) <= most }
	return b.route.isValid() && fits(b.CustomerName, 200) && fits(b.CustomerEmail, 254) &&
		strings.Contains(b.CustomerEmail, "@") && fits(b.PickupAddress, 500) && fits(b.DropoffAddress, 500)
}

// Writes the body, or the error if there is one.
func send(w http.ResponseWriter, status int, body any, err error) {
	switch {
	case err == pgx.ErrNoRows || err == errNotServed:
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	default:
		write(w, status, body)
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	write(w, status, map[string]any{"message": message, "errors": map[string]any{}})
}

func write(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		log.Fatal(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	w.Write(text)
}

// Fields that are unset in all shipments of the benchmark.
type never *struct{}

type fees struct {
	DistanceKm    float64 `json:"distance_km"`
	DistanceFee   float64 `json:"distance_fee"`
	WeightFee     float64 `json:"weight_fee"`
	BaseFee       float64 `json:"base_fee"`
	Subtotal      float64 `json:"subtotal"`
	Total         float64 `json:"total"`
	WindowFee     float64 `json:"window_fee"`
	Currency      string  `json:"currency"`
	PickupWindow  never   `json:"pickup_window"`
	DropoffWindow never   `json:"dropoff_window"`
}

func (st *store) feesOf(p price) fees {
	return fees{DistanceKm: p.distanceKm, DistanceFee: toDollars(p.distanceMinor), WeightFee: toDollars(p.weightMinor),
		BaseFee: toDollars(p.baseMinor), Subtotal: toDollars(p.subtotal), Total: toDollars(p.total),
		Currency: st.pricing.currency}
}

type quoteBody struct {
	Covered     bool  `json:"covered"`
	Message     never `json:"message"`
	FailureType never `json:"failure_type"`
	fees
}

type data struct {
	Data *shipmentBody `json:"data"`
}

type page struct {
	Data          []*shipmentBody `json:"data"`
	NextPageToken string          `json:"next_page_token"`
}

type customerBody struct {
	ID             int64   `json:"id"`
	Name           string  `json:"name"`
	Email          string  `json:"email"`
	IDNumber       *string `json:"id_number"`
	Phone          never   `json:"phone"`
	Notes          never   `json:"notes"`
	DefaultPickup  never   `json:"default_pickup"`
	DefaultDropoff never   `json:"default_dropoff"`
	Figures        never   `json:"figures"`
	Etag           never   `json:"etag"`
}

type shipmentBody struct {
	Reference      string `json:"reference"`
	Status         string `json:"status"`
	PaymentStatus  string `json:"payment_status"`
	PickupAddress  string `json:"pickup_address"`
	DropoffAddress string `json:"dropoff_address"`
	Etag           string `json:"etag"`
	route
	fees
	Customer            customerBody      `json:"customer"`
	CreatedAt           string            `json:"created_at"`
	UpdatedAt           string            `json:"updated_at"`
	CancelledAt         *string           `json:"cancelled_at"`
	Metadata            map[string]string `json:"metadata"`
	CreatedBy           never             `json:"created_by"`
	CancelReason        never             `json:"cancel_reason"`
	CancelNote          never             `json:"cancel_note"`
	ExternalReference   never             `json:"external_reference"`
	QuoteID             never             `json:"quote_id"`
	TrackingURL         never             `json:"tracking_url"`
	DeliveredAt         never             `json:"delivered_at"`
	ReturnedAt          never             `json:"returned_at"`
	Courier             never             `json:"courier"`
	PickupETA           never             `json:"pickup_eta"`
	DropoffETA          never             `json:"dropoff_eta"`
	Attempts            []never           `json:"attempts"`
	Proof               never             `json:"proof"`
	DropoffVerification string            `json:"dropoff_verification"`
	DropoffHandover     string            `json:"dropoff_handover"`
	IfUndeliverable     string            `json:"if_undeliverable"`
	PackageCount        int               `json:"package_count"`
	Items               []never           `json:"items"`
	Stage               never             `json:"stage"`
	RecipientName       never             `json:"recipient_name"`
	RecipientPhone      never             `json:"recipient_phone"`
	RecipientEmail      never             `json:"recipient_email"`
	RecipientLocale     never             `json:"recipient_locale"`
	DropoffPin          never             `json:"dropoff_pin"`
	PickupContactName   never             `json:"pickup_contact_name"`
	PickupContactPhone  never             `json:"pickup_contact_phone"`
	PickupInstructions  never             `json:"pickup_instructions"`
	DropoffInstructions never             `json:"dropoff_instructions"`
	PackageDescription  never             `json:"package_description"`
	Test                bool              `json:"test"`
	PaymentDetails      never             `json:"payment_details"`
	Breakdown           []line            `json:"breakdown"`
}

func (st *store) bodyOf(s *shipment) *shipmentBody {
	if s == nil {
		return nil
	}
	body := &shipmentBody{Reference: s.reference, Status: s.status, PaymentStatus: s.paymentStatus,
		PickupAddress: s.pickupAddress, DropoffAddress: s.dropoffAddress, Etag: itoa(s.version), route: s.route,
		fees: st.feesOf(s.price), Customer: customerBody{ID: s.customer.id, Name: s.customer.name,
			Email: s.customer.email, IDNumber: s.customer.idNumber}, CreatedAt: timeText(s.createdAt),
		UpdatedAt: timeText(s.updatedAt), Metadata: s.metadata,
		Attempts: []never{}, DropoffVerification: "none",
		DropoffHandover: s.dropoffHandover, IfUndeliverable: s.ifUndeliverable, PackageCount: s.packageCount,
		Items: []never{}, Breakdown: st.pricing.breakDown(s.WeightKg, s.price)}
	if s.cancelledAt != nil {
		text := timeText(*s.cancelledAt)
		body.CancelledAt = &text
	}
	return body
}

func (st *store) pageOf(shipments []*shipment) page {
	var token string
	if len(shipments) > pageSize {
		shipments = shipments[:pageSize]
		last := shipments[pageSize-1]
		position, _ := json.Marshal([]string{timeText(last.createdAt), last.reference})
		token = base64.RawURLEncoding.EncodeToString(position)
	}
	bodies := make([]*shipmentBody, len(shipments))
	for i, s := range shipments {
		bodies[i] = st.bodyOf(s)
	}
	return page{bodies, token}
}
