// save_note writes a new note: {"name": "packing.md", "text": "..."} on stdin.
//
// It sees one folder, /drafts, which it may write to. A note that is already there is only replaced with
// {"replace": true}.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"strconv"
)

const folder = "/drafts"

type arguments struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Replace bool   `json:"replace"`
}

func main() {
	var given arguments
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fail("The arguments are not as expected: " + err.Error())
	}
	if given.Name == "" || given.Name != path.Base(given.Name) || given.Name[0] == '.' {
		fail("Not a file name: " + strconv.Quote(given.Name) + ". Send a plain name such as packing.md.")
	}
	if err := save(given); err != nil {
		fail(err.Error())
	}
	os.Stdout.WriteString("Saved " + given.Name + " (" + strconv.Itoa(len(given.Text)) + " bytes).\n")
}

// save writes the whole note beside its place first, so that a note is never left half written.
func save(note arguments) error {
	target := folder + "/" + note.Name
	if _, err := os.Lstat(target); err == nil && !note.Replace {
		return errors.New("There is already a note " + note.Name + ". Choose another name, or send replace: true.")
	}
	draft := folder + "/." + note.Name + ".part"
	if err := os.WriteFile(draft, []byte(note.Text), 0o644); err != nil {
		return errors.New("The note could not be written: " + err.Error())
	}
	if err := os.Rename(draft, target); err != nil {
		os.Remove(draft)
		return errors.New("The note could not be put in place: " + err.Error())
	}
	return nil
}

func fail(message string) {
	os.Stderr.WriteString(message + "\n")
	os.Exit(1)
}
