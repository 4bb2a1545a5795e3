import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import test from "node:test";
import { PART_BYTES, markOf, sendInParts } from "../../static/js/parts.js";

// As browsers have it; Node 18 does not by itself.
globalThis.crypto ??= webcrypto;
const ID = "5f0c";
const file = Object.assign(new Blob([new Uint8Array(2.5 * PART_BYTES).fill(7)]), { name: "größe.log", lastModified: 5 });

// A server that holds `received` bytes, and fails where `fails` says so.
function server({ received = null, fails = () => false }) {
  const seen = { offsets: [], checksums: 0, begun: 0 };
  const row = () => ({ id: ID, mark: markOf(file), size_bytes: file.size, received_bytes: received });
  globalThis.fetch = async (url, { method, headers, body }) => {
    assert.equal(headers["X-CSRFToken"], "t");
    const json = (told) => new Response(JSON.stringify(told));
    if (url === "/api/v1/parts/" && method === "GET") return json({ results: received === null ? [] : [row()] });
    if (method === "POST") {
      received = 0;
      seen.begun += 1;
      return json(row());
    }
    if (method === "GET") return json(row());
    seen.offsets.push(headers["Upload-Offset"] / PART_BYTES);
    seen.checksums += "Upload-Checksum" in headers;
    const failure = fails(seen.offsets.length);
    if (failure === "busy") return new Response(null, { status: 423 });
    if (failure === "lost") received += body.byteLength;
    if (failure) throw new TypeError("network");
    if (headers["Upload-Offset"] !== received) return new Response(null, { status: 409 });
    received += body.byteLength;
    return new Response(null, { status: 204, headers: { "Upload-Offset": received } });
  };
  return seen;
}

const send = (told = () => {}) => sendInParts(file, { token: "t", tell: told, wait: async () => {} });

test("a file is sent in parts with checksums, and says how far it is", async () => {
  const seen = server({});
  const told = [];
  assert.equal(await send((bytes) => told.push(bytes / PART_BYTES)), ID);
  assert.deepEqual([seen.begun, seen.offsets, seen.checksums, told], [1, [0, 1, 2], 3, [0, 1, 2, 2.5]]);
});

test("it goes on where an earlier visit ended", async () => {
  const seen = server({ received: PART_BYTES });
  await send();
  assert.deepEqual([seen.begun, seen.offsets], [0, [1, 2]]);
});

test("a part whose answer is lost is not sent twice, one that never arrived is sent again", async () => {
  const seen = server({ fails: (count) => ({ 1: "lost", 3: "away" })[count] });
  await send();
  assert.deepEqual(seen.offsets, [0, 0, 1, 1, 2]);
});

test("while another request writes the same file, it waits before it sends again", async () => {
  server({ fails: (count) => count === 2 && "busy" });
  let waits = 0;
  await sendInParts(file, { token: "t", tell: () => {}, wait: async () => { waits += 1; } });
  assert.equal(waits, 1);
});

test("what is refused is told in the server's words", async () => {
  globalThis.fetch = async () => new Response(JSON.stringify({ detail: "too much" }), { status: 403 });
  await assert.rejects(send(), /too much/);
});
