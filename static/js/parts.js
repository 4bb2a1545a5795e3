// A file to the server in parts (tus.io), each with its checksum; it goes on where a connection broke, or the page was
// closed: a file is found again by its name, its size and its date.

export const PART_BYTES = 8 * 1024 * 1024;
const WAITS_MS = [1000, 2000, 5000, 10000, 20000, 40000];
const URL_OF_PARTS = "/api/v1/parts/";
// Another offset is wanted, another part is being written, the checksum differs: the server says how far it is.
const BUSY = 423;
const ASK_ANEW = [409, BUSY, 460];

export const markOf = (file) => `${file.name} ${file.size} ${file.lastModified}`;
const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const metadata = (told) => Object.entries(told).map(([key, text]) => `${key} ${base64(new TextEncoder().encode(text))}`).join(",");

/** The id of the file on the server, where all of it is. `tell(bytes)`: how much of it is there. */
export async function sendInParts(file, { token, tell, wait = pause }) {
  const ask = asking(token, wait);
  const { results } = await (await ask("GET", URL_OF_PARTS)).json();
  const begun = results.find((kept) => kept.mark === markOf(file) && kept.size_bytes === file.size);
  const kept = begun ?? (await (await ask("POST", URL_OF_PARTS, {
    "Upload-Length": file.size, "Upload-Metadata": metadata({ filename: file.name, mark: markOf(file) }),
  })).json());
  const address = `${URL_OF_PARTS}${kept.id}/`;
  let offset = kept.received_bytes;
  while (offset < file.size) {
    tell(offset);
    const part = await file.slice(offset, offset + PART_BYTES).arrayBuffer();
    const answer = await ask("PATCH", address, {
      "Upload-Offset": offset, "Content-Type": "application/offset+octet-stream", ...(await checksum(part)),
    }, part);
    if (answer.status === BUSY) await wait(WAITS_MS[0]);
    offset = ASK_ANEW.includes(answer.status) ? (await (await ask("GET", address)).json()).received_bytes : Number(answer.headers.get("Upload-Offset"));
  }
  tell(offset);
  return kept.id;
}

// Browsers compute it where the page came over TLS or from this machine.
async function checksum(part) {
  if (!globalThis.crypto?.subtle) return {};
  return { "Upload-Checksum": `sha256 ${base64(new Uint8Array(await crypto.subtle.digest("SHA-256", part)))}` };
}

function asking(token, wait) {
  return async function ask(method, url, headers = {}, body = undefined) {
    for (const waitMs of [...WAITS_MS, null]) {
      const answer = await fetch(url, { method, headers: { "X-CSRFToken": token, ...headers }, body }).catch(() => null);
      if (answer && (answer.ok || ASK_ANEW.includes(answer.status))) return answer;
      if (answer && answer.status < 500 && answer.status !== 429) throw new Error(await words(answer));
      if (waitMs === null) throw new Error("The server did not answer. What was sent stays there for a day: choose the same files again.");
      await wait(waitMs);
    }
  };
}

async function words(answer) {
  const told = await answer.json().catch(() => ({}));
  return told.detail ?? (Object.values(told).flat().join(" ") || `The server answered ${answer.status}.`);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
