// Runs Perfetto's trace processor, which is WebAssembly for a web worker, in Node.js: requests on stdin, replies on stdout.
// Usage: node trace_processor.cjs FOLDER     FOLDER has engine_bundle.js and its *.wasm
"use strict";
const { readFileSync } = require("node:fs");
const { basename, join } = require("node:path");
const { runInThisContext } = require("node:vm");
const { stdin, stdout, argv } = process;

globalThis.self = globalThis;
globalThis.location = { href: "http://localhost/" };
globalThis.WorkerGlobalScope = class {};
globalThis.XMLHttpRequest = class {
  open(_, url) { this.file = join(argv[2], basename(url)); }
  send() { this.response = readFileSync(this.file); }
};
delete globalThis.process; // so that the engine does not take this for a main thread of Node.js
console.warn = () => {}; // the engine reports system calls that do nothing

runInThisContext(readFileSync(join(argv[2], "engine_bundle.js"), "utf8"));
const port = { postMessage: (reply) => stdout.write(reply) };
setTimeout(() => { // the engine has started
  globalThis.onmessage({ data: port });
  stdin.on("data", (request) => port.onmessage({ data: new Uint8Array(request) }));
}, 0);
