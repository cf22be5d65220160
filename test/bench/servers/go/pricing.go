package main

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// A tariff document. The benchmark's tariff has no schedules and a currency with two decimals.
type tariff struct {
	Currency  string      `json:"currency"`
	BaseFee   json.Number `json:"base_fee"`
	RatePerKm json.Number `json:"rate_per_km"`
	Tiers     []struct {
		MinKg     float64     `json:"min_kg"`
		MaxKg     float64     `json:"max_kg"`
		FlatFee   json.Number `json:"flat_fee"`
		RatePerKg json.Number `json:"rate_per_kg"`
	} `json:"tiers"`
	Zones struct {
		Features []struct {
			ID         string `json:"id"`
			Properties struct {
				Name string `json:"name"`
			} `json:"properties"`
			Geometry struct {
				Type        string          `json:"type"`
				Coordinates json.RawMessage `json:"coordinates"`
			} `json:"geometry"`
		} `json:"features"`
	} `json:"zones"`
}

type tier struct{ minKg, maxKg, flatFee, ratePerKg float64 }

type polygon [][][2]float64

// A part of a zone.
type area struct {
	name  string
	rings polygon
}

// Grid cells of one degree, so that a lookup tests only polygons near the point.
type cell struct{ lng, lat int }

type pricing struct {
	currency           string
	baseFee, ratePerKm float64
	tiers              []tier
	areas              map[cell][]*area
}

type route struct {
	PickupLat  float64 `json:"pickup_lat"`
	PickupLng  float64 `json:"pickup_lng"`
	DropoffLat float64 `json:"dropoff_lat"`
	DropoffLng float64 `json:"dropoff_lng"`
	WeightKg   float64 `json:"weight_kg"`
}

type price struct {
	distanceKm                                             float64
	distanceMinor, weightMinor, baseMinor, subtotal, total int64
}

// A line item of a price.
type line struct {
	Kind     string  `json:"kind"`
	Quantity float64 `json:"quantity"`
	Unit     string  `json:"unit"`
	Rate     float64 `json:"rate"`
	Amount   float64 `json:"amount"`
}

var errNotServed = errors.New("the route is not served")

func parsePricing(document []byte) (*pricing, error) {
	var parsed tariff
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, err
	}
	p := &pricing{currency: parsed.Currency, areas: map[cell][]*area{}}
	p.baseFee, p.ratePerKm = major(parsed.BaseFee), major(parsed.RatePerKm)
	for _, t := range parsed.Tiers {
		p.tiers = append(p.tiers, tier{t.MinKg, t.MaxKg, major(t.FlatFee), major(t.RatePerKg)})
	}
	uses := map[string]int{}
	for _, feature := range parsed.Zones.Features {
		uses[feature.Properties.Name]++
	}
	for _, feature := range parsed.Zones.Features {
		name := feature.Properties.Name
		if uses[name] > 1 {
			name += " (" + feature.ID + ")"
		}
		geometry := feature.Geometry
		polygons := make([]polygon, 1)
		var err error
		if geometry.Type == "Polygon" {
			err = json.Unmarshal(geometry.Coordinates, &polygons[0])
		} else {
			err = json.Unmarshal(geometry.Coordinates, &polygons)
		}
		if err != nil {
			return nil, err
		}
		for _, it := range polygons {
			p.index(&area{name, it})
		}
	}
	return p, nil
}

func major(amount json.Number) float64 {
	value, _ := amount.Float64()
	return value
}

func (p *pricing) index(it *area) {
	west, south, east, north := 180.0, 90.0, -180.0, -90.0
	for _, at := range it.rings[0] {
		west, east = math.Min(west, at[0]), math.Max(east, at[0])
		south, north = math.Min(south, at[1]), math.Max(north, at[1])
	}
	first, last := cellOf(south, west), cellOf(north, east)
	for lng := first.lng; lng <= last.lng; lng++ {
		for lat := first.lat; lat <= last.lat; lat++ {
			at := cell{lng, lat}
			p.areas[at] = append(p.areas[at], it)
		}
	}
}

func cellOf(lat, lng float64) cell {
	return cell{int(math.Floor(lng)), int(math.Floor(lat))}
}

// Returns the zone at a point, or nil.
func (p *pricing) zoneAt(lat, lng float64) *area {
	for _, it := range p.areas[cellOf(lat, lng)] {
		if it.rings.holds(lat, lng) {
			return it
		}
	}
	return nil
}

// Counts the edges that an eastward ray crosses.
func (it polygon) holds(lat, lng float64) bool {
	isInside := false
	for _, ring := range it {
		from := ring[len(ring)-1]
		for _, to := range ring {
			crosses := (from[1] > lat) != (to[1] > lat)
			if crosses && lng < from[0]+(lat-from[1])/(to[1]-from[1])*(to[0]-from[0]) {
				isInside = !isInside
			}
			from = to
		}
	}
	return isInside
}

func (p *pricing) price(r route) (price, error) {
	t := p.tierOf(r.WeightKg)
	if t == nil || p.zoneAt(r.PickupLat, r.PickupLng) == nil || p.zoneAt(r.DropoffLat, r.DropoffLng) == nil {
		return price{}, errNotServed
	}
	km := haversineKm(r)
	distance := toMinor(km * p.ratePerKm)
	weight := toMinor(t.flatFee) + toMinor(r.WeightKg*t.ratePerKg)
	base, subtotal := toMinor(p.baseFee), distance+weight
	total := subtotal
	if total < base {
		total = base
	}
	return price{math.Floor(km*1000+0.5) / 1000, distance, weight, base, subtotal, total}, nil
}

func (p *pricing) tierOf(weightKg float64) *tier {
	for i := range p.tiers {
		if t := &p.tiers[i]; t.minKg < weightKg && weightKg <= t.maxKg {
			return t
		}
	}
	return nil
}

func (p *pricing) breakDown(weightKg float64, of price) []line {
	t := p.tierOf(weightKg)
	lines := []line{
		{"distance", of.distanceKm, "km", p.ratePerKm, toDollars(of.distanceMinor)},
		{"weight", weightKg, "kg", t.ratePerKg, toDollars(of.weightMinor - toMinor(t.flatFee))},
	}
	if t.flatFee > 0 {
		lines = append(lines, line{"weight", 1, "shipment", t.flatFee, t.flatFee})
	}
	if missing := toDollars(of.baseMinor - of.subtotal); missing > 0 {
		lines = append(lines, line{"minimum", 1, "shipment", missing, missing})
	}
	return lines
}

func haversineKm(r route) float64 {
	const radians, earthRadiusKm = math.Pi / 180, 6371.0088
	from, to := r.PickupLat*radians, r.DropoffLat*radians
	north, east := math.Sin((to-from)/2), math.Sin((r.DropoffLng-r.PickupLng)*radians/2)
	haversine := north*north + math.Cos(from)*math.Cos(to)*east*east
	return 2 * earthRadiusKm * math.Asin(math.Sqrt(math.Min(1, haversine)))
}

func toMinor(dollars float64) int64 { return int64(math.Floor(dollars*100 + 0.5)) }

func toDollars(minor int64) float64 { return float64(minor) / 100 }

func itoa(number int64) string { return strconv.FormatInt(number, 10) }
