// add_days counts days in the calendar: {"date": "2026-11-30", "days": 45} on stdin, the day that is on stdout.
//
// It sees no folder at all: it computes from its arguments, and every call starts anew.
package main

import (
	"encoding/json"
	"os"
	"time"
)

const layout = "2006-01-02"

type arguments struct {
	Date string `json:"date"`
	Days int    `json:"days"`
}

func main() {
	var given arguments
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fail("The arguments are not as expected: " + err.Error())
	}
	start, err := time.Parse(layout, given.Date)
	if err != nil {
		fail("Not a day of the calendar: " + given.Date + ". Write year-month-day, such as 2026-11-30.")
	}
	day := start.AddDate(0, 0, given.Days)
	if day.Year() < 1 || day.Year() > 9999 {
		fail("That day is outside the years 1 to 9999.")
	}
	os.Stdout.WriteString(day.Format(layout) + " (" + day.Weekday().String() + ")\n")
}

func fail(message string) {
	os.Stderr.WriteString(message + "\n")
	os.Exit(1)
}
