// read_note prints one of the notes: {"name": "trip.md"} on stdin, the note on stdout.
//
// It sees one folder, /notes, because the agent file grants that folder. Nothing here looks at the name:
// "../agent.yaml" finds nothing, since for this program there is nothing above /notes.
package main

import (
	"encoding/json"
	"os"
	"strings"
)

const folder = "/notes"

type arguments struct {
	Name string `json:"name"`
}

func main() {
	var given arguments
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fail("The arguments are not as expected: " + err.Error())
	}
	note, found := read(given.Name)
	if !found {
		fail("There is no note of that name: " + given.Name + "\nThe notes are: " + names())
	}
	os.Stdout.Write(note)
}

// read finds a note by its file name, which may lack its ending.
func read(name string) ([]byte, bool) {
	for _, candidate := range []string{name, name + ".md"} {
		if note, err := os.ReadFile(folder + "/" + candidate); err == nil {
			return note, true
		}
	}
	return nil, false
}

func names() string {
	entries, _ := os.ReadDir(folder)
	found := make([]string, 0, len(entries))
	for _, entry := range entries {
		if !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			found = append(found, entry.Name())
		}
	}
	return strings.Join(found, ", ")
}

func fail(message string) {
	os.Stderr.WriteString(message + "\n")
	os.Exit(1)
}
