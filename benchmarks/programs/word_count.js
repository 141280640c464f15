const fs = require("fs");

const { name } = JSON.parse(fs.readFileSync(0, "utf8"));
const text = fs.readFileSync("notes/" + name, "latin1");
const lines = text.split("\n").length - 1;
const words = text.split(/\s+/).filter(Boolean).length;
console.log(`${lines} lines, ${words} words, ${text.length} bytes`);
